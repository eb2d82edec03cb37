"""Joints in an SDF file."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.model.joint import Joint, Limits, Mimic, Passive
from multibody.model.joints import Continuous, Fixed, Helical, Kind, Prismatic, Revolute, Spherical, Universal
from multibody.model.loaders.sdf_frames import MODEL, WORLD, StatedPoses
from multibody.model.loaders.snap import snap
from multibody.model.loaders.urdf_joint import check_limits
from multibody.model.loaders.xml import Document, Element

AXES = {"fixed": 0, "ball": 0, "revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "universal": 2}
"""The types that are joints of a tree, and how many axes each has; revolute2 is not read."""
IGNORED = ("physics", "sensor", "plugin")
UNLIMITED = 1e16
"""Limits as large as this are none, the format says."""
IDENTITY_TOLERANCE = 1e-15
OWN_FRAME_SINCE = (1, 5)
"""Before this version axes were along the model's."""


def end(document: Document, joint: Element, role: str) -> str:
    """The name of what a joint holds, as its "parent" or its "child"."""
    element = document.child(joint, role)
    name = document.content(element)
    if role == "child" and name == WORLD:
        raise document.error(element, "expected a link or a frame as the child, got the world")
    return name


class JointReader:
    """Reads <joint>, when all places are known."""

    def __init__(
        self, document: Document, places: StatedPoses, version: tuple[int, ...], *, snap: float, coupled: bool
    ) -> None:
        self._document = document
        self.places = places
        self._version = version
        self._snap = snap
        self._coupled = coupled

    def read(self, element: Element, canonical: str, world_H_model: Pose) -> Iterator[Joint]:
        """The joint, and where its frame is not that of its child, a fixed one from there to the child.

        The link between the two has no mass and the name of the joint, which is that of its frame in the format.
        """
        document, places = self._document, self.places
        document.attributes(element, "name", "type")
        name, type_ = document.text(element, "name"), document.text(element, "type")
        if type_ not in AXES:
            raise document.error(element, f"type: expected one of {', '.join(AXES)}, got {type_!r}")
        parts = document.parts(
            element,
            single=("parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch"),
            ignored=(*IGNORED, "gearbox_ratio", "gearbox_reference_body"),
        )
        ends = {role: end(document, element, role) for role in ("parent", "child")}
        child = places.link(ends["child"], parts["child"][0], canonical)
        model_H_joint = places.in_model(name, element)
        model_H_child = places.in_model(child, element)
        if ends["parent"] == WORLD:
            parent, parent_H_model = None, world_H_model
        else:
            parent = places.link(ends["parent"], parts["parent"][0], canonical)
            parent_H_model = places.in_model(parent, element).inverse()
        if parent == child:
            raise document.error(element, f"parent and child are the same link, {child!r}")
        if type_ == "fixed":
            yield Joint(name, Fixed(), parent, child, _tidy(parent_H_model @ model_H_child))
            return
        with document.locate(element):
            kind = self._kind(element, type_, parts, model_H_joint)
        limits, passive, mimic = self._axis_parts(kind, parts)
        placement = _tidy(parent_H_model @ model_H_joint)
        joint_H_child = _tidy(model_H_joint.inverse() @ model_H_child)
        if np.abs(joint_H_child.matrix - np.eye(4)).max() <= IDENTITY_TOLERANCE:
            yield Joint(name, kind, parent, child, placement, limits, passive, mimic)
            return
        yield Joint(name, kind, parent, name, placement, limits, passive, mimic)
        yield Joint(f"{name}_to_{child}", Fixed(), name, child, joint_H_child)

    def _kind(self, joint: Element, type_: str, parts: dict[str, list[Element]], model_H_joint: Pose) -> Kind:
        tags = ("axis", "axis2")
        for extra in tags[AXES[type_] :]:
            if extra in parts:
                self._document.note(parts[extra][0], "ignored", f"a {type_} joint has no <{extra}>")
        axes = [self._axis(joint, tag, parts, model_H_joint) for tag in tags[: AXES[type_]]]
        match type_:
            case "ball":
                return Spherical()
            case "universal":
                return Universal(*axes)
            case "screw":
                return Helical(axes[0], pitch=self._pitch(joint, parts))
            case _:
                return {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}[type_](axes[0])

    def _axis(
        self, joint: Element, name: str, parts: dict[str, list[Element]], model_H_joint: Pose
    ) -> tuple[float, ...]:
        """An axis, in the frame of the joint."""
        document = self._document
        document.child(joint, name)
        own = document.parts(
            parts[name][0],
            single=("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"),
            ignored=("initial_position",),
        )
        axis, frame = np.array([0.0, 0.0, 1.0]), None
        if "xyz" in own:
            xyz = own["xyz"][0]
            document.attributes(xyz, "expressed_in")
            axis, frame = np.array(document.numbers(xyz, 3)), xyz.get("expressed_in")
        else:
            document.note(parts[name][0], "assumed", "without <xyz> the axis is z, the format says")
        old = "use_parent_model_frame" in own and document.content(own["use_parent_model_frame"][0]) in ("true", "1")
        if not frame and (old or self._version < OWN_FRAME_SINCE):
            frame = MODEL
        length = math.hypot(*axis)
        if not length > 0:
            raise document.error(own["xyz"][0], "expected an axis that is not zero")
        if frame:
            in_model = self.places.in_model(frame, own["xyz"][0] if "xyz" in own else parts[name][0])
            axis = model_H_joint.rotation.inverse().matrix @ in_model.rotation.matrix @ axis
        return snap((axis / length).tolist(), self._snap)[0]

    def axis_in_model(self, joint: Element, name: str, parts: dict[str, list[Element]]) -> NDArray[np.float64]:
        """An axis along those of the model."""
        model_H_joint = self.places.in_model(self._document.text(joint, "name"), joint)
        return model_H_joint.rotation @ np.array(self._axis(joint, name, parts, model_H_joint))

    def _pitch(self, joint: Element, parts: dict[str, list[Element]]) -> float:
        """In m/rad: <screw_thread_pitch> is m per turn, the older <thread_pitch> rad per m, of the other hand."""
        document = self._document
        if "screw_thread_pitch" in parts:
            return document.numbers(parts["screw_thread_pitch"][0], 1)[0] / (2 * math.pi)
        if "thread_pitch" not in parts:
            document.child(joint, "screw_thread_pitch")
        pitch = document.numbers(parts["thread_pitch"][0], 1)[0]
        if pitch == 0:
            raise document.error(parts["thread_pitch"][0], "expected a number that is not 0")
        return -1.0 / pitch

    def _axis_parts(self, kind: Kind, parts: dict[str, list[Element]]) -> tuple[Limits, Passive, Mimic | None]:
        elements = [parts[name][0] for name in ("axis", "axis2")[: kind.nv if kind.nv < 3 else 0] if name in parts]
        bounds = [self._limits(kind, element.find("limit")) for element in elements]
        passive = [self._passive(element.find("dynamics")) for element in elements]
        if len(passive) == 2 and passive[0] != passive[1]:
            raise self._document.error(elements[1], "expected the <dynamics> of the first axis, got others")
        if not elements:
            return Limits(), Passive(), None
        limits = Limits(*(tuple(each) for each in zip(*bounds, strict=True))) if len(bounds) > 1 else Limits(*bounds[0])
        return limits, passive[0], self._mimic(kind, elements[0].find("mimic"))

    def _limits(self, kind: Kind, element: Element | None) -> tuple[float, float, float, float]:
        """Lower, upper, velocity and effort; infinite where there is none."""
        values = {"lower": -math.inf, "upper": math.inf, "velocity": math.inf, "effort": math.inf}
        if element is None:
            return -math.inf, math.inf, math.inf, math.inf
        document = self._document
        own = document.parts(element, single=tuple(values), ignored=("stiffness", "dissipation"))
        for name, found in own.items():
            text = document.content(found[0])
            number = (
                float(text) if text.lower().lstrip("+-") in ("inf", "infinity") else document.numbers(found[0], 1)[0]
            )
            values[name] = math.copysign(math.inf, number) if abs(number) >= UNLIMITED else number
        for name in ("velocity", "effort"):
            if values[name] < 0:  # -1 says that there is none
                values[name] = math.inf
        if isinstance(kind, Continuous):
            values |= {"lower": -math.inf, "upper": math.inf}
        check_limits(document, element, kind, values["lower"], values["upper"])
        return values["lower"], values["upper"], values["velocity"], values["effort"]

    def _passive(self, element: Element | None) -> Passive:
        if element is None:
            return Passive()
        document = self._document
        own = document.parts(element, single=("damping", "friction", "spring_reference", "spring_stiffness"))
        value = {name: document.numbers(found[0], 1)[0] for name, found in own.items()}
        for name in ("damping", "friction", "spring_stiffness"):
            if value.get(name, 0.0) < 0:
                raise document.error(own[name][0], f"expected a number that is not negative, got {value[name]:g}")
        stiffness, rest = value.get("spring_stiffness", 0.0), value.get("spring_reference", 0.0)
        return Passive(
            value.get("damping", 0.0), value.get("friction", 0.0), stiffness, (rest,) if stiffness and rest else None
        )

    def _mimic(self, kind: Kind, element: Element | None) -> Mimic | None:
        if element is None:
            return None
        document = self._document
        document.attributes(element, "joint", "axis")
        leader = document.text(element, "joint")
        if kind.nv != 1 or (element.get("axis") or "axis") != "axis":
            raise document.error(element, "only a joint with one axis can follow the first axis of another")
        own = document.parts(element, single=("multiplier", "offset", "reference"))
        value = {name: document.numbers(found[0], 1)[0] for name, found in own.items()}
        if not self._coupled:
            document.note(element, "coupled", f"the joint mimics {leader!r}, but moves on its own: mimic='independent'")
            return None
        ratio = value.get("multiplier", 1.0)
        return Mimic(leader, ratio, value.get("offset", 0.0) - ratio * value.get("reference", 0.0))


def _tidy(pose: Pose) -> Pose:
    """Without what rounding left of differences of equal numbers."""
    matrix = np.where(np.abs(pose.matrix) < IDENTITY_TOLERANCE, 0.0, pose.matrix)
    near = np.abs(np.abs(matrix[:3, :3]) - 1.0) < IDENTITY_TOLERANCE
    matrix[:3, :3] = np.where(near, np.sign(matrix[:3, :3]), matrix[:3, :3])
    return Pose.from_matrix(matrix)
