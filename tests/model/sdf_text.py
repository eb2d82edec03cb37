"""Robots as SDF text: the same links and joints, said in many of the format's ways."""

import math

import numpy as np

import multibody as mb
from multibody.model.joints import Continuous, Floating, Prismatic, Revolute
from multibody.model.model import Model

LIMITS = ("lower", "upper", "velocity", "effort")
TYPES = {Revolute: "revolute", Continuous: "continuous", Prismatic: "prismatic"}


def numbers(x) -> str:
    return " ".join(repr(float(a)) for a in np.ravel(x))


def pose(H: mb.Pose, form: str = "euler_rpy", **attributes: str) -> str:
    said = "".join(f' {name}="{value}"' for name, value in attributes.items())
    if form == "quat_xyzw":
        return f'<pose rotation_format="quat_xyzw"{said}>{numbers(H.position)} {numbers(H.rotation.xyzw)}</pose>'
    rpy = H.rotation.euler("extrinsic-xyz")
    if form == "degrees":
        return f'<pose degrees="true"{said}>{numbers(H.position)} {numbers(np.rad2deg(rpy))}</pose>'
    return f"<pose{said}>{numbers(H.position)} {numbers(rpy)}</pose>"


def sdf(model: Model, rng: np.random.Generator) -> str:
    """A model with hinges and sliders; relative to what poses and axes are said is drawn at random."""
    robot = mb.Robot(model)
    with mb.eager():
        poses = robot.poses(robot.neutral())
    lines = []
    forms = ["euler_rpy", "quat_xyzw", "degrees"]
    for link in model.links:
        other = str(rng.choice([each.name for each in model.links if each.name != link.name]))
        anchored = rng.random() < 0.5 and other < link.name  # no circles
        place = poses[other].inverse() @ poses[link.name] if anchored else poses[link.name]
        where = {"relative_to": other} if anchored else {}
        lines.append(f'<link name="{link.name}">{pose(place, str(rng.choice(forms)), **where)}')
        if link.inertia is None:
            entries = dict.fromkeys(("ixx", "iyy", "izz"), 0.0)
            mass, frame = 0.0, mb.Pose.identity()
        else:
            frame = mb.Pose(mb.Rotation.random(rng), link.inertia.com)
            I = frame.rotation.matrix.T @ link.inertia.inertia @ frame.rotation.matrix
            mass = float(link.inertia.mass)
            entries = {f"i{'xyz'[i]}{'xyz'[j]}": I[i, j] for i in range(3) for j in range(i, 3)}
        inside = "".join(f"<{name}>{float(x)!r}</{name}>" for name, x in entries.items())
        lines.append(f"<inertial><mass>{mass!r}</mass>{pose(frame)}<inertia>{inside}</inertia></inertial></link>")
    for joint in model.joints:
        if isinstance(joint.kind, Floating):
            continue
        parent = joint.parent or "world"
        if joint.kind.nv == 0:
            ends = f"<parent>{parent}</parent><child>{joint.child}</child>"
            lines.append(f'<joint name="{joint.name}-joint" type="fixed">{ends}</joint>')
            continue
        offset = mb.Pose(mb.Rotation.random(rng), [0, 0, 0]) if rng.random() < 0.5 else mb.Pose.identity()
        # the axis goes through the child's origin, unless the joint's frame is moved along it
        axis = np.array(joint.kind.axis)
        in_joint = offset.rotation.inverse() @ axis
        xyz = f"<xyz>{numbers(in_joint)}</xyz>"
        if rng.random() < 0.5:
            xyz = f'<xyz expressed_in="{joint.child}">{numbers(axis)}</xyz>'
        elif rng.random() < 0.5:
            xyz = f'<xyz expressed_in="__model__">{numbers(poses[joint.child].rotation @ axis)}</xyz>'
        low, high, velocity, effort = (np.ravel(getattr(joint.limits, name))[0] for name in LIMITS)
        lower, upper = (float(x) if math.isfinite(x) else math.copysign(1e16, x) for x in (low, high))
        effort, velocity = (float(x) if math.isfinite(x) else -1.0 for x in (effort, velocity))
        limit = (
            f"<lower>{lower!r}</lower><upper>{upper!r}</upper><effort>{effort}</effort><velocity>{velocity}</velocity>"
        )
        passive = f"<damping>{joint.passive.damping}</damping><friction>{joint.passive.friction}</friction>"
        dynamics = f"<dynamics>{passive}</dynamics>"
        ends = f"<parent>{parent}</parent><child>{joint.child}</child>{pose(offset)}"
        kind = TYPES[type(joint.kind)]
        axis_text = f"<axis>{xyz}<limit>{limit}</limit>{dynamics}</axis>"
        lines.append(f'<joint name="{joint.name}-joint" type="{kind}">{ends}{axis_text}</joint>')
    return '<sdf version="1.9">\n<model name="robot">\n' + "\n".join(lines) + "\n</model></sdf>"
