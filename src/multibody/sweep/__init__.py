"""Studies of many samples, on one core or many machines, that survive crashes.

samples = mb.sweep.uniform(10**6, kp=(1, 100), kd=(0, 10))
study = mb.sweep.Study(function, samples, store="gains.zarr")
study.run()
"""

from multibody._signatures import readable_names
from multibody.sweep.designs.designs import grid, latin_hypercube, normal, uniform
from multibody.sweep.designs.samples import Samples, indexed, mapping
from multibody.sweep.designs.sobol import sobol
from multibody.sweep.errors import StoreError, StudyBusyError, StudyChangedError, SweepError, SweepWarning
from multibody.sweep.functions import Simulation
from multibody.sweep.study import Study, open  # noqa: A004

__all__ = [
    "Samples",
    "Simulation",
    "StoreError",
    "Study",
    "StudyBusyError",
    "StudyChangedError",
    "SweepError",
    "SweepWarning",
    "grid",
    "indexed",
    "latin_hypercube",
    "mapping",
    "normal",
    "open",
    "sobol",
    "uniform",
]

readable_names(__name__)
