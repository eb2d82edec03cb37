"""A robot as text, its size and the tree of its bodies; and as a table for notebooks."""

import textwrap
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from multibody._reprs import html_table
from multibody.model.joint import Joint
from multibody.model.joints import Helical, Kind
from multibody.model.model import Model
from multibody.model.tree import Body

WIDTH = 100
MAX_FORK_DEPTH = 8
"""Maximum depth of drawn forks; deeper ones are numbered."""


def tree(model: Model, rows: int = 400) -> str:
    """Return the text of `print(robot)`.

    A moving body hangs by its joint on the body in the row above, or, where lines fork, on the body at the fork. In the
    rows under a body, "+" are links that are fixed to it and "·" other frames on it; "by" is its joint, where the names
    are too long for one row. Forks deep inside others are not indented any more, but have their depth in brackets.

    Args:
        model: the robot.
        rows: how many rows are shown of a longer tree, from its beginning and its end.

    >>> from multibody.model.builder import Builder
    >>> from multibody.model.joints import Revolute
    >>> b = Builder("arm").body("base").body("upper").body("lower")
    >>> _ = b.joint("shoulder", Revolute("y"), parent="base", child="upper")
    >>> _ = b.joint("elbow", Revolute("y"), parent="upper", child="lower", placement=[0.0, 0.0, 1.0])
    >>> print(tree(b.model()))
    arm: 2 bodies on a fixed base, nq = 2, nv = 2, 0 kg
    <BLANKLINE>
    world
    │  + base
    └─ upper  shoulder  revolute y  0 kg
       lower  elbow     revolute y  0 kg
    """
    frames = _frames_of_bodies(model)
    on_world = [link.name for link in model.links if model.tree.frame(link.name)[0] == 0]
    lines: list[tuple[str, ...]] = [("world",), *_parts("│  " if model.bodies else "   ", on_world, frames[0])]
    for body, lead, under in _drawn(model):
        below = under + ("│  " if len(model.tree.children(body.index)) > 1 else "   ")
        lines.append((below, lead + body.name, *_described(body)))
        lines += _parts(below, body.links[1:], frames[body.index])
    if len(lines) > rows:
        left_out = (f"⋮  {len(lines) - rows} more rows",)
        lines = [*lines[: rows - rows // 4], left_out, *lines[len(lines) - rows // 4 :]]
    return "\n".join([_head(model), "", *_aligned(lines)])


def table(model: Model) -> str:
    """Return the HTML of a robot for notebooks: its joints, what they connect, and their coordinates."""
    names, frames = ("world", *(body.name for body in model.tree.bodies)), _frames_of_bodies(model)
    rows = []
    for i, p, body in model.tree.outward():
        places = _entries("q", body.joint.q), _entries("v", body.joint.v)
        rows.append((names[p], body.name, *_described(body), *places, ", ".join([*body.links[1:], *frames[i]])))
    head = ("parent", "body", "joint", "motion", "limits", "mass", "q", "v", "frames on it")
    return html_table(_head(model), head, rows)


def _frames_of_bodies(model: Model) -> dict[int, list[str]]:
    """The names of the extra frames on each body, by its index."""
    frames: dict[int, list[str]] = defaultdict(list)
    for frame in model.extra_frames:
        frames[model.tree.frame(frame.name)[0]].append(frame.name)
    return frames


def _entries(name: str, place: slice) -> str:
    """The entries of a vector as they are indexed in Python."""
    return f"{name}[{place.start}]" if place.stop - place.start == 1 else f"{name}[{place.start}:{place.stop}]"


def _head(model: Model) -> str:
    base = "floating" if model.tree.floating else "fixed"
    coupled = sum(joint.mimic is not None for joint in model.joints)
    parts = [
        f"{model.name}: {len(model.bodies)} {'body' if len(model.bodies) == 1 else 'bodies'} on a {base} base",
        f"nq = {model.nq}",
        f"nv = {model.nv}",
        f"{model.tree.mass:.5g} kg",
    ]
    return ", ".join(parts + ([f"{coupled} coupled"] if coupled else []))


def _drawn(model: Model) -> list[tuple[Body, str, str]]:
    """Each body with the lines that lead to it and those that go on below it."""
    under, depth = [""], [0]
    drawn: list[tuple[Body, str, str]] = []
    for i, p, body in model.tree.outward():
        siblings = model.tree.children(p)
        alone = p != 0 and len(siblings) == 1
        deeper = depth[p] + (not alone)
        if alone:
            lead = below = under[p]
        elif deeper > MAX_FORK_DEPTH:
            lead, below = f"{under[p]}({deeper}) ", under[p]
        else:
            last = i == siblings[-1]
            lead, below = under[p] + ("└─ " if last else "├─ "), under[p] + ("   " if last else "│  ")
        under.append(below)
        depth.append(deeper)
        drawn.append((body, lead, below))
    return drawn


def _parts(lead: str, links: Sequence[str], frames: Sequence[str]) -> list[tuple[str, ...]]:
    """Rows of what is fixed to a body."""
    rows = []
    for sign, names in (("+", links), ("·", frames)):
        space = max(WIDTH - len(lead) - 2, WIDTH // 3)
        text = textwrap.wrap(", ".join(names), space, break_on_hyphens=False, break_long_words=False)
        rows += [(f"{lead}{sign if k == 0 else ' '} {line}",) for k, line in enumerate(text)]
    return rows


def _described(body: Body) -> tuple[str, str, str, str]:
    joint = body.joint
    return joint.name, _motion(joint.kind), _range(joint), f"{body.inertia.mass:.4g} kg"


def _motion(kind: Kind) -> str:
    """The kind with its axes, such as "revolute z"."""
    axes = [_axis(getattr(kind, name)) for name in ("axis", "first", "second") if name in vars(kind)]
    pitch = [f"{kind.pitch:.3g} m/rad"] if isinstance(kind, Helical) else []
    return " ".join([kind.name, *axes, *pitch])


def _axis(axis: str | Sequence[float]) -> str:
    if isinstance(axis, str):
        return axis
    along = [k for k, x in enumerate(axis) if x]
    if len(along) == 1:
        return ("-" if axis[along[0]] < 0 else "") + "xyz"[along[0]]
    return "(" + ", ".join(f"{x:.2g}" for x in axis) + ")"


def _range(joint: Joint) -> str:
    """The mimicked joint, or the limits of the coordinate."""
    if joint.mimic is not None:
        ratio, offset = joint.mimic.ratio, joint.mimic.offset
        times = {1.0: "", -1.0: "-"}.get(ratio, f"{ratio:.4g} ")
        return f"= {times}{joint.mimic.joint}" + (f" {'-' if offset < 0 else '+'} {abs(offset):.4g}" if offset else "")
    low, high = np.atleast_1d(joint.limits.lower), np.atleast_1d(joint.limits.upper)
    if not (np.isfinite(low).any() or np.isfinite(high).any()):
        return ""
    if len(low) > 1:
        return "limited"
    return f"{_bound(low[0])} … {_bound(high[0])} {joint.kind.units[0]}".rstrip()


def _bound(x: float) -> str:
    return f"{x:.4g}".replace("inf", "∞")


def _aligned(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows with their columns under each other; those with the longest names, which do not fit, on two."""
    table = [line[1:] for line in lines if len(line) > 1]
    longest = sorted({sum(map(len, cells)) for cells in table}, reverse=True)
    widths = [0] * 5
    for most in longest:
        fitting = [cells for cells in table if sum(map(len, cells)) <= most]
        widths = [max(map(len, column)) for column in zip(*fitting, strict=True)]
        if sum(widths) + 2 * len(widths) - 2 <= WIDTH:
            break
    rows: list[str] = []
    for line in lines:
        rows += line if len(line) == 1 else _row(line, widths)
    return rows


def _row(line: tuple[str, ...], widths: Sequence[int]) -> list[str]:
    below, *cells = line
    if any(len(cell) > width for cell, width in zip(cells, widths, strict=True)):
        return [cells[0], f"{below}by {', '.join(cell for cell in cells[1:] if cell)}"]
    return ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True) if width).rstrip()]
