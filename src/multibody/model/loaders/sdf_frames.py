"""StatedPoses in an SDF file: poses relative to links, joints and frames by name."""

import math
from dataclasses import dataclass

import numpy as np

from multibody.geometry import Pose, Rotation
from multibody.model.loaders.snap import rotation_from_rpy
from multibody.model.loaders.xml import Document, Element

MODEL = "__model__"
"""The name of the frame of the model itself."""
WORLD = "world"


@dataclass(frozen=True)
class StatedPose:
    """A pose relative to a named frame, and the link that carries it."""

    element: Element
    pose: Pose
    relative_to: str
    link: str | None
    """For frames, the link or frame that it is attached to; None for links and joints."""


class StatedPoses:
    """The links, joints and frames of a model, and where each is in the frame of the model."""

    def __init__(self, document: Document, snap: float) -> None:
        self._document = document
        self._snap = snap
        self._places: dict[str, StatedPose] = {}
        self._known: dict[str, Pose] = {MODEL: Pose.identity()}

    def add(self, name: str, element: Element, relative_to: str, link: str | None = None) -> None:
        """Note where a named element is; its <pose> may say relative to what."""
        if name in (MODEL, WORLD) or (name.startswith("__") and name.endswith("__")):
            raise self._document.error(element, f"the name {name!r} is reserved by the format")
        if name in self._places:
            line = self._document.line(self._places[name].element)
            raise self._document.error(element, f"the name {name!r} is taken by an element on line {line}")
        pose = element.find("pose")
        stated = None if pose is None else pose.get("relative_to")
        self._places[name] = StatedPose(element, self.pose(pose), stated or relative_to, link)

    def put(self, name: str, element: Element, model_H_x: Pose) -> None:
        """Note where a named link is in the model."""
        self._places[name] = StatedPose(element, model_H_x, MODEL, None)

    def pose(self, element: Element | None) -> Pose:
        """The numbers of a <pose>; without one, the identity."""
        if element is None or not (element.text or "").strip():
            return Pose.identity()
        document = self._document
        document.attributes(element, "relative_to", "rotation_format", "degrees")
        form = element.get("rotation_format") or "euler_rpy"
        if form not in ("euler_rpy", "quat_xyzw"):
            raise document.error(element, f"rotation_format: expected euler_rpy or quat_xyzw, got {form!r}")
        if form == "quat_xyzw":
            x, y, z, *quaternion = document.numbers(element, 7)
            if not math.hypot(*quaternion) > 0:
                raise document.error(element, "expected a quaternion that is not zero")
            return Pose(Rotation.from_xyzw(np.array(quaternion) / math.hypot(*quaternion)), [x, y, z])
        x, y, z, *rpy = document.numbers(element, 6)
        if element.get("degrees") in ("true", "1"):
            rpy = [math.radians(angle) for angle in rpy]
        return Pose._trusted(rotation_from_rpy(rpy, self._snap)[0], np.array((x, y, z)))

    def check(self) -> None:
        """See whether all poses lead to the model's frame.

        Raises:
            RobotFileError: where one names nothing, or itself.
        """
        for name, place in self._places.items():
            self.in_model(name, place.element)

    def in_model(self, name: str, asked_by: Element) -> Pose:
        """model_H_x of a link, a joint or a frame; `asked_by` is the element of errors."""
        chain: list[StatedPose] = []
        at = name
        while at not in self._known:
            place = self._find(at, asked_by)
            if place in chain:
                raise self._document.error(place.element, f"the pose of {name!r} is relative to itself")
            chain.append(place)
            asked_by, at = place.element, place.relative_to
        pose = self._known[at]
        for place in reversed(chain):
            pose = pose @ place.pose
        self._known[name] = pose
        return pose

    def link(self, name: str, asked_by: Element, canonical: str) -> str:
        """The link that carries a link or frame of this name; the model's own frame is on its canonical link."""
        seen: set[str] = set()
        while name != MODEL:
            place = self._find(name, asked_by)
            if place.element.tag == "joint":
                child = place.element.find("child")
                assert child is not None  # joints without one are refused before
                name, asked_by = self._document.content(child), place.element
            elif place.link is None:
                return name
            else:
                name = place.link
            if name in seen:
                raise self._document.error(asked_by, f"{name!r} is attached to itself")
            seen.add(name)
        return canonical

    def _find(self, name: str, asked_by: Element) -> StatedPose:
        if "::" in name:
            raise self._document.error(asked_by, f"{name!r} is in a nested model, and nested models are not read yet")
        if name not in self._places:
            raise self._document.error(asked_by, f"there is no link, joint or frame named {name!r}")
        return self._places[name]
