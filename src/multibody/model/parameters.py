"""Parameters: the numbers of a robot that can be kernel inputs, so that every sample of a batch is another robot."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._signatures import Lines, Source
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia, quaternions, rates
from multibody.geometry._arrays import at, block_matrix, eye_like, first, floats, is_traced, read_only
from multibody.geometry.inertia import is_physical
from multibody.geometry.unit_quaternions import check_unit_quaternions
from multibody.model.composite_inertia import INERTIAL, CompositeInertia

if TYPE_CHECKING:
    from multibody.model.tree import Tree

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")

PLACEMENT = 7
"""Entries of a placement: a position, and a unit quaternion w, x, y, z."""
POSITION = 3
"""Entries of a position; the rotation of the placement stays constant and folds in kernels."""


def _rows(owner: str, *axes: int | str) -> dict[str, Any]:
    """Metadata of a field: the kind of its rows, for messages, and the shape of its array without the batch."""
    return {"owner": owner, "axes": axes}


@dataclass(frozen=True, eq=False)
class Parameters:
    """The numbers of a robot that can vary between samples; None keeps the robot's own.

    Each array changes only what it names. A joint that moves carries its subtree along. A link that is fixed to a body
    is part of the body's inertia, and a frame there.
    """

    inertias: ArrayLike | None = field(default=None, metadata=_rows("body", "bodies", INERTIAL))
    """(..., bodies, 10): m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body about its origin."""
    placements: ArrayLike | None = field(default=None, metadata=_rows("joint", "bodies", PLACEMENT))
    """(..., bodies, 7): position and quaternion w, x, y, z of each body's joint in its parent body."""
    positions: ArrayLike | None = field(default=None, metadata=_rows("joint", "bodies", POSITION))
    """(..., bodies, 3): the positions in `placements`; rotations stay."""
    frame_placements: ArrayLike | None = field(default=None, metadata=_rows("frame", "frames", PLACEMENT))
    """(..., frames, 7): position and quaternion of each frame in its body."""
    gravity: ArrayLike | None = field(default=None, metadata=_rows("world", 3))
    """(..., 3) in m/s², along the axes of the world."""
    masses: ArrayLike | None = field(default=None, metadata=_rows("body", "bodies"))
    """(..., bodies) in kg: centres of mass stay, moments of inertia scale with the mass; massless bodies stay."""
    damping: ArrayLike | None = field(default=None, metadata=_rows("velocity", "nv"))
    """(..., nv) in N m s/rad or N s/m, the sum over all joints that a coordinate moves."""
    friction: ArrayLike | None = field(default=None, metadata=_rows("velocity", "nv"))
    """(..., nv) in N m or N: dry friction."""
    armature: ArrayLike | None = field(default=None, metadata=_rows("velocity", "nv"))
    """(..., nv) in kg m² or kg, on the diagonal of the mass matrix."""
    offsets: ArrayLike | None = field(default=None, metadata=_rows("joint", "bodies"))
    """(..., bodies) in rad or m, added to the coordinate of each body's joint; 0 for joints with several."""

    @cached_property
    def given(self) -> dict[str, Any]:
        """The arrays that are not None, by name."""
        return {name: value for name in NAMES if (value := getattr(self, name)) is not None}

    @staticmethod
    def shapes(tree: "Tree") -> dict[str, tuple[int, ...]]:
        """The shape of each array for a robot, without the batch."""
        sizes: dict[Any, Any] = {"bodies": len(tree.bodies), "frames": len(tree.frames), "nv": tree.nv}
        return {f.name: tuple(sizes.get(axis, axis) for axis in f.metadata["axes"]) for f in fields(Parameters)}

    # ---- the tree with other numbers ---------------------------------------------------------------------------------

    def apply(self, tree: "Tree") -> "Tree":
        """Return the tree with these numbers: floats, batches or traced. The topology and the joint kinds stay."""
        refuse_overlap(self.given)
        shapes = self.shapes(tree)
        new = {name: read_only(floats(value, name, *shapes[name])) for name, value in self.given.items()}
        for name in PLACED:
            if name in new and not is_traced(new[name]):
                check_units(tree, new[name], name)
        bodies = []
        for k, body in enumerate(tree.bodies):
            inertia: Any = body.inertia
            pose = body.joint.placement
            if "inertias" in new:
                inertia = CompositeInertia.from_parameters(new["inertias"][..., k, :])
            if "masses" in new:
                inertia = _with_mass(inertia, new["masses"][..., k])
            if "placements" in new:
                pose = _pose(new["placements"][..., k, :])
            if "positions" in new:
                pose = Pose._trusted(pose.rotation, new["positions"][..., k, :])
            joint = body.joint if pose is body.joint.placement else replace(body.joint, placement=pose)
            if "offsets" in new and joint.kind.nq == 1:
                joint = replace(joint, offset=new["offsets"][..., k])
            bodies.append(replace(body, joint=joint, inertia=inertia))
        frames = tree.frame_poses
        if "frame_placements" in new:
            frames = tuple((i, _pose(new["frame_placements"][..., k, :])) for k, (i, _) in enumerate(frames))
        arrays = {name: new[name] for name in ("gravity", *DRIVES) if name in new}
        return replace(tree, bodies=tuple(bodies), frame_poses=frames, **arrays)

    # ---- checks ------------------------------------------------------------------------------------------------------

    def check(self, tree: "Tree") -> None:
        """Raise an InputError for numbers that no robot can have.

        Raises:
            InputError: with the sample and the body, joint or frame, if its numbers are not finite, are not those of a
                body, or include a quaternion that is not a unit.

        >>> import multibody as mb
        >>> arm = mb.load("planar-arm").tree
        >>> Parameters(placements=1.5 * arm.placements()).check(arm)
        Traceback (most recent call last):
        ...
        multibody.errors.InputError: placements: the quaternion (w, x, y, z) of the joint 'joint1' has the length 1.5...
        """
        for name, value in self.given.items():
            if name == "inertias":
                check_inertias(tree, value)
                continue
            shape = self.shapes(tree)[name]
            numbers = floats(value, name, *shape)
            rows = numbers[..., None, :] if name == "gravity" else numbers[..., None] if len(shape) == 1 else numbers
            _check_finite(tree, rows, name)
            if name == "masses":
                heavy = tree.parameters()[..., 0] != 0
                _refuse(~(numbers > 0) & heavy, tree, numbers, name, "a positive mass")
            if name in DRIVES:
                _refuse(numbers < 0, tree, numbers, name, "a number that is not negative")
            if name == "offsets":
                several = np.array([joint.kind.nq != 1 for joint in tree.joints], dtype=bool)
                _refuse((numbers != 0) & several, tree, numbers, name, "0 for a joint without exactly one coordinate")
            if name in PLACED:
                check_units(tree, numbers, name)


NAMES = tuple(f.name for f in fields(Parameters))
"""The names of all parameters."""
PLACED = tuple(f.name for f in fields(Parameters) if f.metadata["axes"][-1] == PLACEMENT)
"""Parameters with quaternions."""
DRIVES = tuple(f.name for f in fields(Parameters) if f.metadata["owner"] == "velocity")
"""Parameters with one value per velocity."""


def keywords_of(
    make: Callable[P, Parameters],
) -> Callable[[Callable[[S, Parameters], R]], Callable[Concatenate[S, P], R]]:
    """Decorator: the function takes the arguments of `Parameters` in place of its second argument."""

    def decorate(function: Callable[[S, Parameters], R]) -> Callable[Concatenate[S, P], R]:
        @wraps(function)
        def call(owner: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            return function(owner, make(*args, **kwargs))

        plain = inspect.signature(function)
        owner, _ = plain.parameters.values()
        arrays = (
            inspect.Parameter(name, owner.POSITIONAL_OR_KEYWORD, default=None, annotation=Source("ArrayLike | None"))
            for name in NAMES
        )
        result = Source(plain.return_annotation)
        call.__signature__ = Lines([owner, *arrays], return_annotation=result)  # type: ignore[attr-defined]
        return call

    return decorate


def refuse_overlap(names: Collection[str]) -> None:
    """Raise an InputError if one of the named parameters includes another."""
    for whole, part in (("placements", "positions"), ("inertias", "masses")):
        if whole in names and part in names:
            raise InputError(f"parameters: expected {whole!r} or {part!r}, got both: {whole} include {part}")


def placement_rates(placements: NDArray[Any]) -> NDArray[Any]:
    """F, (..., 7, 6): the rates of a placement (..., 7) are F times (p', i_w).  [Kindr §Coordinate Rates]

    p' is the velocity along the parent's axes, i_w the angular velocity along the axes of the placed frame.

    >>> placement_rates(np.array([0.0, 0, 0, 1, 0, 0, 0]))[3:, 3:]
    array([[-0. , -0. , -0. ],
           [ 0.5, -0. ,  0. ],
           [ 0. ,  0.5, -0. ],
           [-0. ,  0. ,  0.5]])
    """
    identity = np.broadcast_to(eye_like(placements, 3), (*placements.shape[:-1], 3, 3))
    return block_matrix([[identity, 0], [0, rates.angular_inverse("quaternion", placements[..., 3:], frame="B")]])


def check_units(tree: "Tree", placements: NDArray[Any], name: str = "placements") -> None:
    """Raise an InputError for quaternions in placements that are not units; NaN and Inf pass, as data.

    Args:
        tree: the robot.
        placements: (..., bodies, 7), or (..., frames, 7).
        name: the parameter: "placements" or "frame_placements".

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").tree
    >>> check_units(arm, arm.placements())
    """
    check_unit_quaternions(placements[..., POSITION:], name, _owners(tree, name))


def check_inertias(tree: "Tree", inertias: Any) -> NDArray[Any]:
    """Return the numbers (..., bodies, 10), if bodies can have them; all zeros
    for a massless body of the tree.

    Raises:
        InputError: with the sample and the body, if its numbers are not finite, or its
            pseudo-inertia is not positive semidefinite (up to rounding) with a positive mass.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm")
    >>> inertias = np.tile(arm.parameters(), (100, 1, 1))
    >>> inertias[4, 2, 0] = -5.0
    >>> check_inertias(arm.tree, inertias)
    Traceback (most recent call last):
    ...
    multibody.errors.InputError: inertias (sample 4): the body 'link3' cannot have ...
    """
    inertias = floats(inertias, "inertias", len(tree.bodies), INERTIAL)
    _check_finite(tree, inertias, "inertias")
    massless = np.array([not body.inertia.parameters().any() for body in tree.bodies], dtype=bool)
    bad = ~is_physical(inertias) & ~(~inertias.any(axis=-1) & massless)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"inertias{at(tuple(index))}: the body {tree.bodies[k].name!r} cannot have "
            f"{inertias[(*index, k)].tolist()}: expected a positive mass, and moments within the triangle inequality"
        )
    return inertias


def _refuse(bad: NDArray[Any], tree: "Tree", values: NDArray[Any], name: str, expected: str) -> None:
    """Raise an InputError for the first bad row of values (..., n) or (..., n, m)."""
    if bad.any():
        *index, k = first(bad)
        got = values[(*index, k)]
        raise InputError(
            f"{name}{at(tuple(index))}: expected {expected} for {_owners(tree, name)[k]}, "
            f"got {got.tolist() if got.ndim else got}"
        )


def _check_finite(tree: "Tree", values: NDArray[Any], name: str) -> None:
    """Raise an InputError if values (..., n, m) are not finite."""
    _refuse(np.any(~np.isfinite(values), axis=-1), tree, values, name, "finite numbers")


def _owners(tree: "Tree", name: str) -> list[str]:
    """The body, joint or frame of each row of a parameter, for messages."""
    match next(f.metadata["owner"] for f in fields(Parameters) if f.name == name):
        case "world":
            return ["the world"]
        case "body":
            return [f"the body {body.name!r}" for body in tree.bodies]
        case "frame":
            return [f"the frame {frame!r}" for frame in tree.frames]
        case "velocity":
            return [f"the joint {joint.name!r}" for joint in tree.independent_joints for _ in range(joint.nv)]
        case _:
            return [f"the joint {joint.name!r}" for joint in tree.joints]


def _pose(x: NDArray[Any]) -> Pose:
    return Pose._trusted(Rotation._trusted(quaternions.to_matrix(x[..., POSITION:])), x[..., :POSITION])


def _with_mass(inertia: SpatialInertia | CompositeInertia, mass: NDArray[Any]) -> CompositeInertia:
    """The inertia of a body of the same shape with another mass; unchanged if the body is massless."""
    parameters = inertia.parameters()
    old = parameters[..., :1]
    scaled = mass[..., None] * (parameters / np.where(old == 0, 1.0, old))
    return CompositeInertia.from_parameters(read_only(np.where(old == 0, parameters, scaled)))
