"""Robots that stand, shift their weight and are pushed, in simulation at 1 kHz: python benchmarks/balance.py [robot].

The whole-body controller is a part of the simulation's kernel. Printed are the slip of the feet and the error of the
centre of mass on a circle over 10 s, how many of 16 pushes of the trunk are survived, and how many of 1,024 robots
whose masses and friction the controller does not know. `small=True` is the sample of the tests.
"""

import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from _robots import CASES, robot_data
from numpy.typing import NDArray

import multibody as mb
from multibody import control, simulate

DT, SECONDS, RADIUS, PERIOD = 0.001, 10.0, 0.03, 2.0
DIRECTIONS, PUSH = 16, 0.1
"""Pushes last so long, in s."""
CORNERS = [(x, y, 0.0) for x in (0.18, -0.07) for y in (0.05, -0.05)]


class Stand(NamedTuple):
    """A robot, its posture, the controller, and the simulation of both."""

    robot: mb.Robot
    q: NDArray[Any]
    feet: tuple[str, ...]
    trunk: str
    impulse: float
    simulator: simulate.Simulator


def anymal() -> Stand:
    """ANYmal on four point feet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = mb.load(str(robot_data() / CASES["anymal"].path), floating=True)
    feet = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
    legs = np.tile([0, 0.7, -1.2], 4) * np.repeat([1, 1, -1, -1], 3)
    q = np.concatenate([[0, 0, 0, 1, 0, 0, 0], legs])
    q[2] = -robot.pose(feet[0], q).position[2]
    contacts = [mb.constraints.PointContact(foot, foot) for foot in feet]
    return _standing(robot, q, contacts, [simulate.SphereContact(foot) for foot in feet], "base", 10.0)


def quadruped() -> Stand:
    """The embedded quadruped, pushed with as much of its weight as ANYmal is."""
    robot = mb.load("quadruped")
    feet = tuple(name for name in robot.frames if name.startswith("foot"))
    q = np.array(robot.home())
    q[2] -= min(robot.pose(foot, q).position[2] for foot in feet)
    contacts = [mb.constraints.PointContact(foot, foot) for foot in feet]
    return _standing(robot, q, contacts, [simulate.SphereContact(foot) for foot in feet], "trunk", 2.5)


def humanoid() -> Stand:
    """The embedded humanoid on two soles, four corners each, that repeat each other; its arms and head are locked."""
    robot = mb.load("humanoid")
    legs = ("floating", "left-hip", "right-hip", "left-knee", "right-knee", "left-ankle", "right-ankle", "waist")
    home = robot.home()
    locked = {j.name: float(home[j.q.start]) for j in robot.joints if not j.name.startswith(legs)}
    robot = robot.lock(locked)
    q = np.array(robot.home())
    soles = [mb.constraints.SurfaceContact(f"{side} sole", f"foot-{side}", CORNERS) for side in ("left", "right")]
    corners = [simulate.SphereContact(sole.frame, point=corner) for sole in soles for corner in CORNERS]
    return _standing(robot, q, soles, corners, "torso", 8.0)


def _standing(
    robot: mb.Robot, q: NDArray[Any], contacts: list[Any], touching: list[Any], trunk: str, impulse: float
) -> Stand:
    levels = [
        [control.CenterOfMassTask("com"), control.OrientationTask("upright", trunk)],
        [control.PostureTask("rest")],  # what is left of the motion, which least torque alone would not hold
    ]
    limits = (control.TorqueLimits(), control.FrictionCones(0.5))
    body = control.WholeBody(robot, contacts, levels, limits)
    level, home = mb.Rotation.identity(), np.array(q)

    def law(t: Any, q: Any, v: Any, target: Any) -> Any:
        del t
        where = {"com": target[:3], "com_velocity": target[3:6], "com_acceleration": target[6:]}
        return body(q, v, **where, com_kp=100.0, upright=level, upright_kp=100.0, rest=home).tau

    simulator = simulate.Simulator(robot, DT, "contact", touching, simulate.Ground(friction=0.8), law)
    return Stand(robot, q, tuple(contact.frame for contact in contacts), trunk, impulse, simulator)


def circle(stand: Stand, seconds: float = SECONDS) -> tuple[float, float]:
    """In m: the largest error of the centre of mass after the first second, and the largest slip of a foot."""
    path = _path(stand.robot.center_of_mass(stand.q), seconds)
    run = stand.simulator(stand.q, seconds=seconds, inputs=path)
    error = np.linalg.norm(stand.robot.center_of_mass(run.q) - path[:, :3], axis=-1)
    return float(error[int(1 / DT) :].max(initial=0.0)), _slip(stand, run)


def pushed(stand: Stand, impulse: float, seconds: float = 3.0, **parameters: Any) -> NDArray[Any]:
    """(samples,), truth values: who still stands, one of 16 directions after the other, when it is over."""
    count = max([DIRECTIONS, *(len(x) for x in parameters.values())])
    angle = 2 * np.pi * (np.arange(count) % DIRECTIONS) / DIRECTIONS
    wrench = np.zeros((count, round(seconds / DT), 6))
    during = slice(round(0.2 / DT), round((0.2 + PUSH) / DT))
    wrench[:, during, 0] = (impulse / PUSH * np.cos(angle))[:, None]
    wrench[:, during, 1] = (impulse / PUSH * np.sin(angle))[:, None]
    center = stand.robot.center_of_mass(stand.q)
    still = np.concatenate([center, np.zeros(6)])[None]
    q = np.tile(stand.q, (count, 1))
    run = stand.simulator(
        q, seconds=seconds, inputs=still, wrenches={stand.trunk: wrench}, parameters=parameters or None, every=100
    )
    off = np.linalg.norm(stand.robot.center_of_mass(run.last[0]) - center, axis=-1)
    return (off < 0.05) & (run.failed < 0)


def unknown(stand: Stand, count: int = 1024) -> dict[str, NDArray[Any]]:
    """Masses of all bodies within 10 % of the controller's, and friction from 0.6 to 1."""
    rng = np.random.default_rng(0)
    own = np.array([body.inertia.mass for body in stand.robot.tree.bodies])
    return {"masses": own * rng.uniform(0.9, 1.1, (count, len(own))), "friction": rng.uniform(0.6, 1.0, count)}


def _path(center: NDArray[Any], seconds: float) -> NDArray[Any]:
    """(steps, 9): place, velocity and acceleration on a circle that grows in the first second."""
    t, w = DT * np.arange(round(seconds / DT)), 2 * np.pi / PERIOD
    grown, rate, bend = control.trajectories.quintic(np.zeros(1), np.array([RADIUS]), 1.0)(t)
    turn = np.stack([np.sin(w * t), np.cos(w * t), 0 * t], axis=-1)
    turn_1 = w * np.stack([np.cos(w * t), -np.sin(w * t), 0 * t], axis=-1)
    return np.concatenate(
        [
            center + grown * turn,
            rate * turn + grown * turn_1,
            bend * turn + 2 * rate * turn_1 - grown * w * w * turn,
        ],
        axis=-1,
    )


def _slip(stand: Stand, run: simulate.Run) -> float:
    places = np.stack([stand.robot.pose(foot, run.q).position for foot in stand.feet], axis=-2)
    return float(np.linalg.norm(places - places[0], axis=-1).max())


def main(name: str) -> None:
    began = time.perf_counter()
    stand = {"anymal": anymal, "quadruped": quadruped, "humanoid": humanoid}[name]()
    error, slip = circle(stand)
    print(
        f"{name}: circle of {1e3 * RADIUS:.0f} mm in {PERIOD} s: {1e3 * error:.3f} mm off, slip {slip:.1e} m",
        flush=True,
    )
    for factor in (1.0, 1.5, 2.0, 3.0):
        alive = pushed(stand, factor * stand.impulse)
        print(f"{name}: {alive.sum()} of {len(alive)} pushes of {factor * stand.impulse:.0f} N s survived", flush=True)
    alive = pushed(stand, stand.impulse, 1.5, **unknown(stand))
    seconds = time.perf_counter() - began
    print(f"{name}: {alive.mean():.1%} of {len(alive)} with other masses and friction survived; {seconds:.0f} s")


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["anymal"]))
