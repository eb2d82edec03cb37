"""Scale a robot: lengths, masses and, by Froude similarity, forces and velocities."""

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model.actuator import Actuator
from multibody.model.diagnostics import Diagnostic
from multibody.model.digest import is_our_code
from multibody.model.joint import Joint, Limits, Passive
from multibody.model.joints import Kind
from multibody.model.link import Geometry, Link
from multibody.model.model import Model
from multibody.model.shapes import Mesh, Shape, Solid

MAX_FACTOR = 1e60
"""Bound of length and mass factors: its fifth power, which scales inertias, is finite."""


def scale(model: Model, factor: float, mass: float | None = None) -> Model:
    """Return the robot with all lengths multiplied by a factor s, and masses by s³.

    Rotational inertias grow with the mass and s², s⁵ in all. What acts in the joints is scaled so that the robot moves
    as before, √s times slower, in the same gravity (Froude similarity): forces with the mass, torques with the mass and
    s, linear velocities with √s, angular ones with 1/√s; with them efforts, springs, damping, friction, rotors and
    limits.

    Args:
        model: the robot.
        factor: s > 0.
        mass: what masses are multiplied by, instead of s³.
    """
    for what, x in (("factor", factor), ("mass", 1.0 if mass is None else mass)):
        if not (isinstance(x, int | float | np.integer | np.floating) and x > 0):
            raise InputError(f"scale {model.name}: expected a positive {what}, got {x!r}")
        if not 1 / MAX_FACTOR <= x <= MAX_FACTOR:
            raise InputError(
                f"scale {model.name}: expected a {what} from {1 / MAX_FACTOR:g} to {MAX_FACTOR:g}, got {x!r}"
            )
    s = float(factor)
    m = s**3 if mass is None else float(mass)
    notes = [
        Diagnostic("warning", "scaled", f"the numbers of equality {each.name!r} ({each.kind}) are not scaled")
        for each in model.equalities
        if each.data
    ]
    kinds = {joint.name: joint.kind for joint in model.all_joints}
    home = model.home
    if home is not None:
        factors = np.concatenate([np.ones(0), *(_coordinates(j.kind, s) for j in model.joints if j.mimic is None)])
        home = tuple((np.array(home) * factors).tolist())
    return model.with_(
        links=tuple(_link(link, s, m) for link in model.links),
        description=tuple(_joint(joint, kinds, s, m) for joint in model.description),
        extra_frames=tuple(replace(frame, pose=_pose(frame.pose, s)) for frame in model.extra_frames),
        actuators=model.actuators and tuple(_actuator(a, model.joint(a.joint), s, m) for a in model.actuators),
        home=home,
        diagnostics=(*model.diagnostics, *notes),
    )


def _pose(pose: Pose, s: float) -> Pose:
    return Pose(pose.rotation, s * pose.position)


def _link(link: Link, s: float, m: float) -> Link:
    old = link.inertia
    inertia = old and SpatialInertia(mass=m * old.mass, com=s * old.com, inertia=m * s**2 * old.inertia)
    visuals, collisions = (tuple(_geometry(g, s) for g in shapes) for shapes in (link.visuals, link.collisions))
    return Link(link.name, inertia, visuals, collisions)


def _geometry(geometry: Geometry, s: float) -> Geometry:
    return replace(geometry, shape=_shape(geometry.shape, s), pose=_pose(geometry.pose, s))


def _shape(shape: Shape, s: float) -> Shape:
    match shape:
        case Solid():  # all of its fields are lengths
            return type(shape)(*(np.multiply(s, getattr(shape, f.name)) for f in fields(shape)))  # type: ignore[arg-type]
        case Mesh(uri, path, (x, y, z)):
            return Mesh(uri, path, (s * x, s * y, s * z))
        case _:
            return shape


def _coordinates(kind: Kind, s: float) -> np.ndarray[Any, Any]:
    """(nq,): what each coordinate is multiplied by."""
    return np.array([s if unit == "m" else 1.0 for unit in kind.units])


def _joint(joint: Joint, kinds: dict[str, Kind], s: float, m: float) -> Joint:
    kind, mimic = joint.kind, joint.mimic
    if type(kind).scaled is Kind.scaled and not is_our_code(type(kind)):
        raise InputError(
            f"scale: {kind!r} of joint {joint.name!r} is from outside the library: expected it to have `scaled`"
        )
    kind = kind.scaled(s)
    lengths = _coordinates(kind, s)
    if mimic is not None:
        (own,), (leader,) = lengths, _coordinates(kinds[mimic.joint], s)
        mimic = replace(mimic, ratio=mimic.ratio * own / leader, offset=mimic.offset * own)
    linear = np.array([unit == "m" for unit in kind.rates])
    bounds = joint.limits.spread(kind)
    limits = Limits(
        lower=_times(bounds.lower, lengths),
        upper=_times(bounds.upper, lengths),
        velocity=_times(bounds.velocity, np.where(linear, s**0.5, s**-0.5)),
        effort=_times(bounds.effort, np.where(linear, m, m * s)),
    )
    placement = _pose(joint.placement, s)
    return replace(
        joint, kind=kind, placement=placement, limits=limits, passive=_passive(joint, s, m, lengths), mimic=mimic
    )


def _times(x: Any, factors: np.ndarray[Any, Any]) -> tuple[float, ...]:
    return tuple((np.array(x, dtype=float) * factors).tolist())


def _passive(joint: Joint, s: float, m: float, lengths: np.ndarray[Any, Any]) -> Passive:
    old = joint.passive
    acts = old.damping or old.friction or old.stiffness or old.armature
    # force / velocity, force, force / length, mass; times s² where they are of angles
    moment = _moment(joint, s, f"joint {joint.name!r}") if acts else 1.0
    return Passive(
        damping=old.damping * moment * m / s**0.5,
        friction=old.friction * m * math.sqrt(moment),
        stiffness=old.stiffness * moment * m / s,
        rest=None if old.rest is None else _times(old.rest, lengths),
        armature=old.armature * moment * m,
    )


def _actuator(actuator: Actuator, joint: Joint, s: float, m: float) -> Actuator:
    bounded = actuator.rotor_inertia or math.isfinite(actuator.effort)
    moment = _moment(joint, s, f"actuator {actuator.name!r}") if bounded else 1.0
    return replace(
        actuator, rotor_inertia=actuator.rotor_inertia * m * moment, effort=actuator.effort * m * math.sqrt(moment)
    )


def _moment(joint: Joint, s: float, what: str) -> float:
    """s² for numbers of angles, 1 for those of lengths; a number for both cannot be scaled."""
    units = set(joint.kind.rates)
    if len(units) > 1:
        raise InputError(
            f"scale: {what} has one number for the lengths and the angles of a {joint.kind.name} joint, which scale "
            "apart; expected 0 there"
        )
    return s**2 if units == {"rad"} else 1.0
