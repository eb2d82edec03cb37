"""Simulation: integrators, hard contact with friction, controllers.

from multibody import simulate
run = simulate.Simulator(robot, dt=0.002, ground=simulate.Ground())(q, v, seconds=1.0)
"""

from multibody._foreign_names import public_room
from multibody.simulate.contact.ground import Ground
from multibody.simulate.contact.spheres import SphereContact, SpherePair, contacts_of
from multibody.simulate.divergence import SimulationWarning
from multibody.simulate.gradient import Gradients, gradient
from multibody.simulate.pd import PD
from multibody.simulate.run import Run
from multibody.simulate.saving import load
from multibody.simulate.simulator import Simulator

__all__ = [
    "PD",
    "Gradients",
    "Ground",
    "Run",
    "SimulationWarning",
    "Simulator",
    "SphereContact",
    "SpherePair",
    "contacts_of",
    "gradient",
    "load",
]

__getattr__ = public_room(__name__)
