"""What the benchmarks of robots share: the three robots, one core, and least times taken in turns."""

import math
import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

import multibody as mb


class Case(NamedTuple):
    """A robot of example-robot-data, as the benchmarks use it."""

    path: str
    floating: bool
    locked: tuple[str, ...] = ()


CASES = {
    "panda": Case("panda_description/urdf/panda.urdf", False, ("panda_finger_joint1", "panda_finger_joint2")),
    "anymal": Case("anymal_b_simple_description/robots/anymal.urdf", True),
    "talos": Case("talos_data/robots/talos_reduced.urdf", True),
}


def robot_data() -> Path:
    """The folder of example-robot-data's robots."""
    spec = find_spec("numpy")
    for parent in Path(spec.origin or "").parents if spec else ():
        for place in ("cmeel.prefix/share", "share"):
            folder = parent / place / "example-robot-data" / "robots"
            if folder.is_dir():
                return folder
    raise SystemExit("example-robot-data is not installed: pip install example-robot-data")


def plain_urdf(name: str) -> str:
    """The robot's URDF with inertias and joints alone, locked ones fixed: the same text for every library."""
    case = CASES[name]
    tree = etree.parse(robot_data() / case.path, etree.XMLParser(remove_comments=True))
    root = tree.getroot()
    kept = {"link": {"inertial"}, "joint": {"origin", "parent", "child", "axis", "limit"}}
    for element in list(root):
        if element.tag not in kept:
            root.remove(element)
            continue
        for part in list(element):
            if part.tag not in kept[element.tag]:
                element.remove(part)
    for joint in root.findall("joint"):
        if joint.get("name") in case.locked:
            joint.set("type", "fixed")
    return etree.tostring(root, encoding="unicode")


def load(name: str) -> mb.Robot:
    """The robot, from the same text as its peers."""
    return mb.load(plain_urdf(name), floating=CASES[name].floating)


def pinocchio_model(name: str) -> Any:
    """The robot in Pinocchio, from the same text."""
    import pinocchio as pin

    root = (pin.JointModelFreeFlyer(),) if CASES[name].floating else ()
    return pin.buildModelFromXML(plain_urdf(name), *root)


def one_core() -> None:
    """Stay on one core from here on, where the system lets us."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def least(functions: dict[str, Callable[[], Any]], budget: float = 0.4, turn: float = 0.0005) -> dict[str, float]:
    """The least time of one call of each, in s.

    They take turns, so that a noisy machine is unfair to none. In a turn a function is called once to warm it, then
    for about `turn` seconds; `budget` is the time for each function in all.
    """
    calls, times = {}, dict.fromkeys(functions, math.inf)
    for name, function in functions.items():
        function()
        start = time.perf_counter()
        function()
        calls[name] = max(1, int(turn / max(time.perf_counter() - start, 1e-7)))
    end = time.perf_counter() + budget * len(functions)
    while time.perf_counter() < end:
        for name, function in functions.items():
            function()
            rounds = range(calls[name])
            start = time.perf_counter()
            for _ in rounds:
                function()
            times[name] = min(times[name], (time.perf_counter() - start) / calls[name])
    return times
