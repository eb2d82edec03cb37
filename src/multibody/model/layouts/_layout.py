"""The base class of layouts: pairs of joints, and permuted coordinates."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import concatenate_last, floats
from multibody.model import base_velocity
from multibody.model.check_configuration import coordinates, velocities
from multibody.model.joint import Joint
from multibody.model.joints import Floating
from multibody.model.layouts._joint_maps import Part
from multibody.model.model import Model


class Layout(ABC):
    """Converts q, v, a and tau of one of our models to the layout of a peer, and back.

    Functions named `..._to` take numbers of ours and give the peer's, those named `..._from` take the peer's and give
    ours, in all of their arguments. Arrays can have any batch shape (..., n), and the velocity of our base can be any
    of "kindr", "left", "right" and "mixed".
    """

    peer_name: str
    """As messages call the other library."""

    def __init__(self, model: Model, peer: Any) -> None:
        """Pair the joints of a model of ours with those of the peer's.

        Raises:
            InputError: when the joints differ, with their names.
        """
        self.model = model
        self.nq, self.nv = int(peer.nq), int(peer.nv)
        ours = [joint for joint in model.joints if joint.mimic is None]
        self._parts = sorted(self._pair(ours, peer), key=lambda part: part.joint.q.start)
        self._q_order = np.argsort([k for part in self._parts for k in part.q])
        self._v_order = np.argsort([k for part in self._parts for k in part.v])

    @abstractmethod
    def _pair(self, ours: Sequence[Joint], peer: Any) -> list[Part]:
        """A part for each of our joints with coordinates of its own."""

    # ---- the conversions ---------------------------------------------------------------------------------------------

    def q_to(self, q: ArrayLike) -> NDArray[Any]:
        """The peer's coordinates (..., nq)."""
        q = coordinates(self.model.tree, q)
        return _put([part.q_to(q[..., part.joint.q]) for part in self._parts], q)[..., self._q_order]

    def q_from(self, q: ArrayLike) -> NDArray[Any]:
        """Our coordinates; the angle of a continuous joint is in (-π, π] where the peer has its cosine and sine."""
        q = self._sized(q, "q", self.nq)
        return _put([part.q_from(q[..., part.q]) for part in self._parts], q)

    def v_to(self, q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
        """The peer's velocities (..., nv)."""
        q, v = coordinates(self.model.tree, q), velocities(self.model.tree, v)
        return self._to(lambda part, x, v: part.v_to(x, v), q, base_velocity.to_left(self.model.tree, q, v))

    def v_from(self, q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
        """Our velocities, from the peer's q and v."""
        ours, v = self.q_from(q), self._sized(v, "v", self.nv)
        return base_velocity.from_left(self.model.tree, ours, self._left(ours, v))

    def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> NDArray[Any]:
        """The peer's accelerations (..., nv): the rates of its velocities."""
        q, v, a = coordinates(self.model.tree, q), velocities(self.model.tree, v), velocities(self.model.tree, a, "a")
        left = (
            base_velocity.to_left(self.model.tree, q, v),
            base_velocity.acceleration_to_left(self.model.tree, q, v, a),
        )
        return self._to(lambda part, x, v, a: part.a_to(x, v, a), q, *left)

    def a_from(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> NDArray[Any]:
        """Our accelerations, from the peer's q, v and a."""
        ours, v, a = self.q_from(q), self._sized(v, "v", self.nv), self._sized(a, "a", self.nv)
        left = self._left(ours, v)
        parts = [part.a_from(ours[..., part.joint.q], left[..., part.joint.v], a[..., part.v]) for part in self._parts]
        return base_velocity.acceleration_from_left(self.model.tree, ours, left, _put(parts, ours, left, a))

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> NDArray[Any]:
        """The peer's generalized forces (..., nv), of the same power."""
        q, tau = coordinates(self.model.tree, q), velocities(self.model.tree, tau, "tau")
        return self._to(lambda part, x, f: part.v_to(x, f), q, base_velocity.force_to_left(self.model.tree, q, tau))

    def tau_from(self, q: ArrayLike, tau: ArrayLike) -> NDArray[Any]:
        """Our generalized forces, from the peer's q and forces."""
        ours, tau = self.q_from(q), self._sized(tau, "tau", self.nv)
        return base_velocity.force_from_left(self.model.tree, ours, self._left(ours, tau))

    # ---- how ---------------------------------------------------------------------------------------------------------

    def _to(self, function: Callable[..., NDArray[Any]], q: NDArray[Any], *left: NDArray[Any]) -> NDArray[Any]:
        parts = [function(part, q[..., part.joint.q], *(x[..., part.joint.v] for x in left)) for part in self._parts]
        return _put(parts, q, *left)[..., self._v_order]

    def _left(self, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """Velocities or forces of the peer, left-trivialised and in our order."""
        return _put([part.v_from(q[..., part.joint.q], v[..., part.v]) for part in self._parts], q, v)

    def _sized(self, x: ArrayLike, what: str, n: int) -> NDArray[Any]:
        array = floats(x, what)
        if array.ndim and array.shape[-1] == n:
            return array
        raise InputError(f"{what} of {self.peer_name}: expected the shape (..., {n}), got {array.shape}")

    def _matched(self, ours: Sequence[Joint], names: Sequence[str], floating: Sequence[str]) -> dict[str, Joint]:
        """Our joint for each name of the peer; a floating base needs no common name when each has one left.

        Args:
            ours: our joints with coordinates of their own.
            names: of the peer's joints.
            floating: those of them that float.
        """
        table = {joint.name: joint for joint in ours}
        pairs = {name: table[name] for name in names if name in table}
        here = [joint for joint in ours if joint.name not in pairs]
        there = [name for name in names if name not in pairs]
        bases = [joint for joint in here if isinstance(joint.kind, Floating)]
        far = [name for name in there if name in floating]
        if len(bases) == len(far) == 1:
            pairs[far[0]] = bases[0]
            here.remove(bases[0])
            there.remove(far[0])
        if here or there:
            raise InputError(
                f"{self.model.name}: the joints differ from those of {self.peer_name}: only ours are "
                f"{_listed([joint.name for joint in here])}; only those of {self.peer_name} are {_listed(there)}"
            )
        return pairs

    def _differ(self, joint: Joint, peer: str) -> InputError:
        return InputError(
            f"{self.model.name}: joint {joint.name!r} is {joint.kind.name}, but {peer} in {self.peer_name}"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _put(parts: Sequence[NDArray[Any]], *numbers: NDArray[Any]) -> NDArray[Any]:
    """The parts one after the other, in the common batch shape of the numbers."""
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in numbers))
    if not parts:
        return np.zeros((*batch, 0))
    return concatenate_last(parts, batch)
