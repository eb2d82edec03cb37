"""One file per method: a step from the state before to the state after. `simulate/method.py` has their contract."""

from multibody.simulate.method import Method
from multibody.simulate.methods.contact import CONTACT
from multibody.simulate.methods.euler import EULER
from multibody.simulate.methods.events import EVENTS
from multibody.simulate.methods.rk4 import RK4
from multibody.simulate.methods.soft import SOFT
from multibody.simulate.methods.variational import VARIATIONAL
from multibody.simulate.methods.verlet import VERLET

METHODS: dict[str, Method] = {each.name: each for each in (CONTACT, EULER, EVENTS, RK4, SOFT, VARIATIONAL, VERLET)}
"""By name."""
