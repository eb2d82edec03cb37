"""One file per method: a step from the state before to the state after. `simulate/method.py` has their contract."""

from multibody.simulate.method import Method
from multibody.simulate.methods.contact import Contact
from multibody.simulate.methods.euler import Euler
from multibody.simulate.methods.events import Events
from multibody.simulate.methods.rk4 import RungeKutta4
from multibody.simulate.methods.soft import Soft
from multibody.simulate.methods.variational import Variational
from multibody.simulate.methods.verlet import Verlet

METHODS: dict[str, Method] = {
    method.name: method for method in (Contact(), Euler(), Events(), RungeKutta4(), Soft(), Variational(), Verlet())
}
"""By name."""
