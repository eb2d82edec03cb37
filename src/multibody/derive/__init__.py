"""Equations of motion as formulas: systems, methods of derivation, comparisons.

Needs SymPy, of the extra `multibody[symbolic]`; `make demo` installs it.
"""

from multibody._foreign_names import public_room
from multibody.tracing.emission import optional

optional("sympy", "symbolic")

from multibody.derive import systems  # noqa: E402
from multibody.derive.methods import METHODS, applicable, equations  # noqa: E402
from multibody.derive.methods.bodies_on_groups import GroupEquations, duindam, on_group  # noqa: E402
from multibody.derive.methods.boltzmann_hamel import reduced  # noqa: E402
from multibody.derive.methods.hamel_coefficients import gamma  # noqa: E402
from multibody.derive.methods.quasi_velocities import with_quasi_velocities, with_rates_as_velocities  # noqa: E402
from multibody.derive.results.comparison import Agreement, equal  # noqa: E402
from multibody.derive.results.equations import Equations  # noqa: E402
from multibody.derive.results.equilibria import equilibria  # noqa: E402
from multibody.derive.results.linearisation import Linearization, linearize  # noqa: E402
from multibody.derive.system.bodies import Body, particle  # noqa: E402
from multibody.derive.system.constraints import Holonomic, Motion  # noqa: E402
from multibody.derive.system.from_robot import from_robot  # noqa: E402
from multibody.derive.system.loads import Actuator, Damper, Force, Generalized, Spring, Torque  # noqa: E402
from multibody.derive.system.symbols import coordinates, rate, rotation_x, rotation_y, rotation_z, symbols  # noqa: E402
from multibody.derive.system.system import System  # noqa: E402

__all__ = [
    "METHODS",
    "Actuator",
    "Agreement",
    "Body",
    "Damper",
    "Equations",
    "Force",
    "Generalized",
    "GroupEquations",
    "Holonomic",
    "Linearization",
    "Motion",
    "Spring",
    "System",
    "Torque",
    "applicable",
    "coordinates",
    "duindam",
    "equal",
    "equations",
    "equilibria",
    "from_robot",
    "gamma",
    "linearize",
    "on_group",
    "particle",
    "rate",
    "reduced",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "symbols",
    "systems",
    "with_quasi_velocities",
    "with_rates_as_velocities",
]

Linearisation, linearise = Linearization, linearize

__getattr__ = public_room(__name__)
