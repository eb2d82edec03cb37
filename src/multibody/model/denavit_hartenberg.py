"""Arms from tables of Denavit-Hartenberg parameters, classical and modified.

Both number the links from 0, the base, and give a builder with the links "link0", "link1", ..., the joints "joint1",
..., the frames of the table "frame1", ... and "tool". They differ in where frame i of the table lies on link i:

    classical: at the end of the link; joint i turns about the z of frame i - 1.
        frame_{i-1}_H_frame_i = R_z(θ) T_z(d) T_x(a) R_x(α)
    modified (Craig): at its beginning; joint i turns about the z of frame i.
        frame_{i-1}_H_frame_i = R_x(α) T_x(a) R_z(θ) T_z(d),   a and α of the row of joint i

The frame of a link lies on the axis of its joint, as everywhere in this library: in the modified convention it is the
frame of the table, in the classical one that is T_x(a) R_x(α) further.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.geometry._arrays import choice
from multibody.model.builder import Builder, as_pose
from multibody.model.joint import Limits
from multibody.model.joints import Prismatic, Revolute
from multibody.model.model import GRAVITY


@dataclass(frozen=True)
class Row:
    """The row of one joint: lengths in m, angles in rad."""

    a: float
    """Along x."""
    alpha: float
    """About x."""
    d: float
    """Along z; the coordinate of a prismatic joint is added to it."""
    theta: float = 0.0
    """About z; the coordinate of a revolute joint is added to it."""
    kind: str = "revolute"
    """"revolute" or "prismatic"."""
    limits: Limits = field(default_factory=Limits)
    inertia: SpatialInertia | None = None
    """The inertia of the link, in the frame of this row."""

    def __post_init__(self) -> None:
        choice(self.kind, "kind of a Denavit-Hartenberg row", ("revolute", "prismatic"))
        for name in ("a", "alpha", "d", "theta"):
            x = getattr(self, name)
            if not isinstance(x, int | float | np.number) or not math.isfinite(x):
                raise InputError(f"{name} of a Denavit-Hartenberg row: expected a finite number, got {x!r}")


def classical(
    name: str,
    rows: Sequence[Row | Sequence[Any]],
    *,
    base: Pose | ArrayLike | None = None,
    tool: Pose | ArrayLike | None = None,
    gravity: Sequence[float] = GRAVITY,
) -> Builder:
    """A serial arm from a classical (distal) table.

    Args:
        name: of the robot.
        rows: for each joint a `Row`, or its fields: a, alpha, d, theta, kind, ...
        base: the pose of frame 0 on the link "link0", a Pose or a position.
        tool: the pose of the frame "tool" in the last frame of the table.
        gravity: in m/s².

    >>> classical("elbow", [(1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]).model().nv
    2
    """
    b = Builder(name, gravity=gravity).body("link0")
    end = as_pose(base)
    for k, row in enumerate(_rows(name, rows), start=1):
        start = end @ about("z", row.theta, row.d)  # commutes with the motion about and along z
        end = about("x", row.alpha, row.a)
        _add(b, k, row, start, end)
    return b.frame("tool", f"link{len(rows)}", end @ as_pose(tool))


def modified(
    name: str,
    rows: Sequence[Row | Sequence[Any]],
    *,
    base: Pose | ArrayLike | None = None,
    tool: Pose | ArrayLike | None = None,
    gravity: Sequence[float] = GRAVITY,
) -> Builder:
    """A serial arm from a modified (proximal) table, in which row i has the a and α that stand before joint i.

    The arguments are those of `classical`.

    >>> arm = modified("elbow", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], tool=[1.0, 0.0, 0.0])
    >>> arm.model().frames
    ('link0', 'link1', 'link2', 'frame1', 'frame2', 'tool')
    """
    b = Builder(name, gravity=gravity).body("link0")
    start = as_pose(base)
    for k, row in enumerate(_rows(name, rows), start=1):
        _add(b, k, row, start @ about("x", row.alpha, row.a) @ about("z", row.theta, row.d), Pose.identity())
        start = Pose.identity()
    return b.frame("tool", f"link{len(rows)}", as_pose(tool))


def _add(b: Builder, k: int, row: Row, placement: Pose, link_H_frame: Pose) -> None:
    """Link k with its joint at a place on the link before, and its frame of the table."""
    kind = Revolute("z") if row.kind == "revolute" else Prismatic("z")
    b.body(f"link{k}", None if row.inertia is None else link_H_frame @ row.inertia)
    b.joint(f"joint{k}", kind, parent=f"link{k - 1}", child=f"link{k}", placement=placement, limits=row.limits)
    b.frame(f"frame{k}", f"link{k}", link_H_frame)


def _rows(name: str, rows: Sequence[Row | Sequence[Any]]) -> list[Row]:
    if not len(rows):
        raise InputError(f"{name}: expected at least one Denavit-Hartenberg row, got none")
    table = []
    for k, row in enumerate(rows, start=1):
        try:
            table.append(row if isinstance(row, Row) else Row(*row))
        except (TypeError, InputError) as error:
            raise InputError(f"{name}: row {k}: expected (a, alpha, d, theta, kind), got {row!r}: {error}") from None
    return table


def about(axis: str, angle: float, length: float) -> Pose:
    """A rotation about an axis and a translation along it; right angles keep exact zeros, which fold in a kernel.

    >>> about("x", math.pi / 2, 0.5).rotation.matrix[1:, 1:]
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    R = Rotation.elementary(axis, angle).matrix
    quarter = angle / (math.pi / 2)
    if quarter == round(quarter):
        R = np.round(R) + 0.0  # no -0.
    return Pose(Rotation.from_matrix(R), [length if letter == axis else 0.0 for letter in "xyz"])
