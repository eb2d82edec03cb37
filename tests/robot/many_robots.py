"""Random robots, one after the other, in one cache: each kernel beside its plain source. Run in several processes.

    python -m tests.robot.many_robots FIRST LAST GEAR

prints how many kernels were compared and compiled. The joints and constraints of the user have the process' own GEAR in
their code, which no source text and no name tells.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

import multibody as mb
from multibody.algorithms import jacobian, kinematics
from multibody.compiler.runtime import native
from multibody.geometry import Pose, Rotation
from multibody.model import joints
from multibody.model.joint import Passive
from multibody.robot.quantities import QUANTITIES
from multibody.robot.request import Request

from ..model.trees import random_inertia, random_model

GEAR = 1.0
WITHIN = 1e-8
QUANTITIES_OF_USERS = ("inverse_dynamics", "mass_matrix", "bias", "pose", "passive")


@dataclass(frozen=True, init=False)
class Revolute(joints.Prismatic):
    """A user's joint with a name of the library's: it slides, GEAR times as far as its coordinate says."""

    @property
    def screw(self) -> tuple[float, float]:
        return GEAR, 0.0


@dataclass(frozen=True)
class Rail(mb.constraints.Constraint):
    """A user's constraint: GEAR times the height of a frame does not change."""

    name: str
    frame: str
    rows = 1

    def jacobian(self, tree: Any, q: Any) -> Any:
        return GEAR * jacobian.jacobian(tree, self.frame, q)[..., 2:3, :]

    def bias(self, tree: Any, q: Any, v: Any) -> Any:
        return GEAR * kinematics.acceleration(tree, self.frame, q, v, np.zeros_like(v))[..., 2:3]


def operated(robot: mb.Robot, rng: np.random.Generator) -> mb.Robot:
    """The robot after some surgery."""
    joint = robot.joints[int(rng.integers(len(robot.joints)))]
    single = joint.nq == 1
    match int(rng.integers(10)):
        case 0:
            return robot.scale(float(rng.uniform(0.5, 2.0)))
        case 1:
            return robot.change(gravity=rng.uniform(-5, 5, 3).tolist())
        case 2:
            return robot.change(passive={joint.name: Passive(damping=float(rng.uniform(0, 2)))})
        case 3:
            pose = Pose(Rotation.random(rng), rng.normal(size=3))
            buffers = np.array(pose.rotation.matrix), np.array(pose.position)
            moved = robot.change(placements={joint.name: Pose(Rotation.from_matrix(buffers[0]), buffers[1])})
            buffers[1][...] = 17.0
            return moved
        case 4:
            first, second = rng.choice(robot.frames, 2, replace=False).tolist()
            return robot.rename(frames={first: second, second: first})
        case 5:
            return robot.payload(robot.frames[-1], random_inertia(rng))
        case 6 if single and joint.mimic is None and len(robot.joints) > 1:
            return robot.lock({joint.name: float(rng.uniform(-0.5, 0.5))})
        case 7 if not robot.model.equalities:
            return robot.with_parameters(positions=robot.positions() + rng.normal(size=robot.positions().shape))
        case 8:
            return robot.change(velocity=str(rng.choice(["left", "right", "mixed", "kindr"])))
    return robot


def with_users_joint(robot: mb.Robot) -> mb.Robot:
    """The robot on a rail of the user's."""
    b = mb.Builder("rail").body("ground").body("cart", mb.SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.eye(3)))
    b.joint("rail", Revolute("x"), parent="ground", child="cart")
    return mb.Robot(b).attach(robot, frame="cart", prefix="on-")


def requests(robot: mb.Robot, rng: np.random.Generator, *, users: bool) -> Iterator[Request]:
    """Some of what can be asked of a robot."""
    frame = str(rng.choice(robot.frames))
    name = str(rng.choice(QUANTITIES_OF_USERS if users else list(QUANTITIES)))
    quantity = QUANTITIES[name]
    if quantity.solves or (not robot.mass and ("com" in name or "centr" in name or "center" in name)):
        name, quantity = "bias", QUANTITIES["bias"]
    options = {"reference": robot.frames[0]} if "reference" in quantity.options else {}
    varied = [(), ("inertias",), ("positions",), ("masses", "gravity"), ("frame_placements",)][int(rng.integers(5))]
    yield Request.of(robot.model, name, frame if quantity.frame else None, parameters=varied, **options)
    if robot.tree.frame(frame)[0]:
        held = [Rail("rail of the user", frame)] if users else [mb.constraints.PointContact("foot", frame)]
        yield Request.of(robot.model, "constraint_jacobian", constraints=robot.constraints(held))


def compared(robot: mb.Robot, request: Request, rng: np.random.Generator) -> None:
    """Assert that the kernel gives what its plain source gives."""
    numbers = {
        "inertias": robot.parameters(),
        "positions": robot.positions(),
        "masses": robot.parameters()[:, 0],
        "frame_placements": robot.frame_placements(),
        "gravity": np.array(robot.model.gravity),
    }
    args = []
    for x in request.arrays(robot.tree):
        if x.kind == "configuration":
            args.append(robot.random(rng, (3,)))
        elif x.name in numbers:
            args.append(numbers[x.name])
        else:
            args.append(rng.standard_normal((3, *x.shape)))
    results, plain = robot._calls.kernel(request).kernel(*args), request.function(robot.tree)(*args)
    pairs = zip(results, plain, strict=True) if isinstance(plain, tuple) else [(results, plain)]
    for ours, source in pairs:
        scale = max(1.0, float(np.nanmax(np.abs(source), initial=0.0)))
        off = float(np.nanmax(np.abs(ours - source), initial=0.0))
        assert off < WITHIN * scale, f"{robot!r}, {request}: {off}"


def main(first: int, last: int, gear: float) -> None:
    """Compare the robots of some seeds."""
    global GEAR
    GEAR = gear
    compilations, compile_objects = 0, native.compile_objects

    def counted(*args: Any, **options: Any) -> Any:
        nonlocal compilations
        compilations += 1
        return compile_objects(*args, **options)

    native.compile_objects = counted
    kernels = 0
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        robot = mb.Robot(random_model(rng, int(rng.integers(1, 4)), floating=bool(rng.integers(2)), mimic=0.2))
        for _ in range(int(rng.integers(3))):
            with suppress(mb.InputError):  # what a robot cannot have done to it, as a part of it
                robot = operated(robot, rng)
        users = seed % 4 == 0
        if users:
            robot = with_users_joint(robot)
        for request in requests(robot, rng, users=users):
            compared(robot, request, rng)
            kernels += 1
    print(kernels, compilations)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
