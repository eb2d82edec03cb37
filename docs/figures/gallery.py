"""The pictures of docs/gallery.md: all embedded robots, robots of example-robot-data, and derived systems.

python docs/figures/gallery.py [name ...]   # all, or some of them
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lxml import etree
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

import multibody as mb
from multibody import derive
from multibody.view.shapes.visual_shapes import visual_shapes

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from _robots import robot_data

PLACE = Path(__file__).parents[1] / "_static" / "gallery"
SIZE = (400, 320)


class Exhibit(NamedTuple):
    """A robot file, and how it stands."""

    path: str
    floating: bool = False
    state: str | None = None
    """A configuration with a name in the SRDF file next to it."""
    q: dict[str, float] | None = None
    """Joints that are elsewhere than at zero."""
    upright: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """How the base is turned, as a quaternion: not all files have z upward."""


ARM = {"shoulder_lift_joint": -1.0, "elbow_joint": 1.2, "wrist_1_joint": -1.7, "wrist_2_joint": -1.57}
EXHIBITS = {
    "panda-hand": Exhibit("panda_description/urdf/panda.urdf", state="default"),
    "ur5-gripper": Exhibit("ur_description/urdf/ur5_gripper.urdf", q=ARM),
    "kinova": Exhibit("kinova_description/robots/kinova.urdf", state="arm_up"),
    "xarm7": Exhibit("xarm_description/urdf/xarm7.urdf", state="home"),
    "z1": Exhibit("z1_description/urdf/z1.urdf", state="arm_up"),
    "so101": Exhibit("so_arm_description/urdf/so101.urdf"),
    "allegro-hand": Exhibit("allegro_hand_description/urdf/allegro_right_hand.urdf"),
    "baxter": Exhibit("baxter_description/urdf/baxter.urdf"),
    "tiago": Exhibit("tiago_description/robots/tiago.urdf"),
    "pr2": Exhibit("pr2_description/urdf/pr2.urdf"),
    "anymal-b": Exhibit("anymal_b_simple_description/robots/anymal.urdf", True, "standing"),
    "anymal-c": Exhibit("anymal_c_simple_description/urdf/anymal.urdf", True, "standing"),
    "a1": Exhibit("a1_description/urdf/a1.urdf", True, "standing"),
    "go1": Exhibit("go1_description/urdf/go1.urdf", True, "standing"),
    "go2": Exhibit("go2_description/urdf/go2.urdf", True, "standing"),
    "b1-z1": Exhibit("b1_description/urdf/b1-z1.urdf", True, "standing"),
    "hyq": Exhibit("hyq_description/robots/hyq_no_sensors.urdf", True, "standing"),
    "solo12": Exhibit("solo_description/robots/solo12.urdf", True, q={"HL_KFE": 1.6, "HR_KFE": 1.6, "FL_KFE": -1.6,
                      "FR_KFE": -1.6, "FL_HFE": 0.8, "FR_HFE": 0.8, "HL_HFE": -0.8, "HR_HFE": -0.8}),
    "bolt": Exhibit("bolt_description/robots/bolt.urdf", True, "standing"),
    "centauro": Exhibit("centauro_description/urdf/centauro.urdf", True),
    "talos": Exhibit("talos_data/robots/talos_full_v2.urdf", True, "half_sitting"),
    "romeo": Exhibit("romeo_description/urdf/romeo_small.urdf", True, "half_sitting"),
    "g1": Exhibit("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "human": Exhibit("human_description/robots/human.urdf", True, upright=(0.5, 0.5, 0.5, 0.5)),
    "simple-humanoid": Exhibit("simple_humanoid_description/urdf/simple_humanoid.urdf", True, "half_sitting"),
    "iris": Exhibit("iris_description/robots/iris.urdf", True),
    "borinot": Exhibit("borinot_description/urdf/borinot_flying_arm_2.urdf", True),
}  # fmt: skip
"""By the names of their pictures."""


def state_of(robot: mb.Robot, exhibit: Exhibit, folder: Path) -> np.ndarray:
    """The position of the robot, on the floor if it floats."""
    wanted = dict(exhibit.q or {})
    if exhibit.state is not None:
        states = [state for file in sorted((folder / exhibit.path).parents[1].glob("srdf/*.srdf"))
                  for state in etree.parse(file).iter("group_state") if state.get("name") == exhibit.state]  # fmt: skip
        if not states:
            raise SystemExit(f"{exhibit.path}: no state {exhibit.state!r}")
        for joint in states[0].iter("joint"):
            values = joint.get("value", "").split()
            if len(values) == 1:
                wanted.setdefault(joint.get("name"), float(values[0]))
    q = robot.home()
    for joint in robot.joints:
        if joint.name in wanted and joint.nq == 1:
            q[joint.q] = wanted[joint.name]
    if exhibit.floating:
        q[3:7] = exhibit.upright
        q[2] -= float(visual_shapes(robot).points(robot, q)[:, 2].min())
    return q


def save(robot: mb.Robot, q: np.ndarray, name: str) -> None:
    """One picture, as a JPEG."""
    figure = mb.view.picture(robot, q, size=SIZE)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
    image.save(PLACE / f"{name}.jpg", quality=88, optimize=True)
    print(name, *figure.notes, sep="\n    ", flush=True)


def save_drawing(name: str) -> None:
    """One derived system, as a PNG of few colours."""
    figure = mb.view.draw(derive.systems.system(name))
    figure.set_dpi(90)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
    image.quantize(32).save(PLACE / f"system-{name}.png", optimize=True)
    print(f"system-{name}", flush=True)


def main(names: list[str]) -> None:
    """All pictures, or those with the names."""
    PLACE.mkdir(exist_ok=True)
    if not names:
        main(["free-body-se3"])
    for name in mb.robots.names():
        if name in names or not (names or name.startswith("free-body-")):  # these look alike
            robot = mb.load(name)
            save(robot, robot.home(), name)
    folder = robot_data()
    for name, exhibit in EXHIBITS.items():
        if not names or name in names:
            robot = mb.load(folder / exhibit.path, floating=exhibit.floating)
            save(robot, state_of(robot, exhibit, folder), name)
    for name in derive.systems.SYSTEMS:
        if not names or f"system-{name}" in names:
            save_drawing(name)


if __name__ == "__main__":
    main(sys.argv[1:])
