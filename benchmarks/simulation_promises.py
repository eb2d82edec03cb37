"""Claim: what the page "What the simulator promises" states: python benchmarks/simulation_promises.py [--quick]

Conservation over a million steps, the order of every method, creep on a slope beside MuJoCo, depths, times of events,
and equal bits. Exit status 1 when a promise does not hold.
"""

import sys
import time

import mujoco
import numpy as np

import multibody as mb
from multibody import simulate
from multibody.model.joints import Prismatic
from multibody.model.shapes import Box, Sphere

G = 9.81
failed: list[str] = []


def claim(what: str, value: float, most: float) -> None:
    """Print a figure beside its bar."""
    print(f"  {'ok  ' if value <= most else 'FAIL'} {what}: {value:.2g} (at most {most:.2g})")
    if not value <= most:
        failed.append(what)


def body(name: str, shape: Box | Sphere) -> mb.Robot:
    """1 kg that floats."""
    return mb.Robot(mb.Builder(name).body(name, shape=shape, mass=1.0).model(floating=True))


def at(robot: mb.Robot, height: float) -> np.ndarray:
    q = robot.neutral().copy()
    q[2] = height
    return q


def tumble(steps: int) -> None:
    """A body that turns about its middle axis, where Euler's equations are unstable."""
    inertia = np.array([1.0, 2.0, 2.5])
    spatial = mb.SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.diag(inertia))
    robot = mb.Robot(mb.Builder("top", gravity=(0, 0, 0)).body("top", spatial).model(floating=True))
    v = np.array([0.3, 0.0, 0.0, 0.1, 5.0, 0.1])
    print(f"A body that tumbles, {steps:g} steps of 1 ms (MuJoCo 4: Euler +210 % energy, implicit -51 %, RK4 5e-13)")
    for method in ("variational", "rk4", "verlet", "contact", "euler"):
        begun = time.process_time()
        run = simulate.Simulator(robot, dt=0.001, method=method)(robot.neutral(), v, seconds=steps * 1e-3, every=100)
        w = run.v[:, 3:]
        L = (mb.Rotation.from_quaternion(run.q[:, 3:7]).matrix @ (inertia * w)[:, :, None])[..., 0]
        E, tenth = 0.5 * (w * w) @ inertia, len(w) // 10
        momentum = np.linalg.norm(L - inertia * v[3:], axis=1).max() / np.linalg.norm(inertia * v[3:])
        trend = abs(E[-tenth:].mean() - E[:tenth].mean()) / E[0]
        unit = np.abs(np.linalg.norm(run.q[:, 3:7], axis=1) - 1).max()
        print(
            f"    {method}: momentum {momentum:.1e}, energy's trend {trend:.1e}, largest deviation "
            f"{np.abs(E / E[0] - 1).max():.1e}, |quaternion| - 1 {unit:.1e}; {time.process_time() - begun:.0f} s"
        )
        if method == "variational":
            claim("momentum of the variational integrator, relative", momentum, 1e-10)
            claim("trend of its energy, first tenth to last, relative", trend, 1e-6)


def order() -> None:
    """By halving the step, of a double pendulum over a second."""
    robot = mb.load("double-pendulum")
    print("Order, double pendulum, 1 s, steps of 5, 2.5 and 1.25 ms; the error at 5 ms is the change to 2.5 ms")
    for method, p in (("euler", 1), ("verlet", 2), ("variational", 2), ("contact", 2), ("rk4", 4)):
        ends = []
        for n in (200, 400, 800):
            run = simulate.Simulator(robot, dt=1.0 / n, method=method)([1.2, 0.5], [0.3, -0.2], seconds=1.0, every=n)
            ends.append(np.concatenate(run.last))
        a, b = np.linalg.norm(ends[0] - ends[1]), np.linalg.norm(ends[1] - ends[2])
        print(f"    {method}: error {a:.1e}, order {np.log2(a / b):.2f}")
        claim(f"order of {method}, short of {p} by", p - float(np.log2(a / b)), 0.2)


def puck() -> tuple[mb.Robot, list[simulate.SphereContact]]:
    builder = mb.Builder("puck").body("world").body("rail").body("puck", shape=Box((0.1, 0.1, 0.1)), mass=1.0)
    builder.joint("x", Prismatic("x"), parent="world", child="rail")
    builder.joint("z", Prismatic("z"), parent="rail", child="puck")
    return mb.Robot(builder.model()), [simulate.SphereContact("puck")]


def soft_order() -> None:
    """A mass that bounces once on springs, from 21 heights: the largest error of where it is then."""
    robot, contacts = puck()
    ground = simulate.Ground(stiffness=2000.0, damping=10.0)
    height = np.linspace(0.1, 0.11, 21)
    q = np.stack([0 * height, height], axis=-1)
    ends = {}
    for n in (250, 500, 1000, 16_000):
        run = simulate.Simulator(robot, 0.4 / (0.4 * n), "soft", contacts, ground)(q, seconds=0.4, every=round(0.4 * n))
        ends[n] = run.last[0][:, 1]
    errors = [np.abs(ends[n] - ends[16_000]).max() for n in (250, 500, 1000)]
    rate = np.log2(errors[0] / errors[2]) / 2
    told = ", ".join(f"{e:.1e}" for e in errors)
    print(f"Soft contact, a damped bounce: errors at 4, 2, 1 ms {told} m, order {rate:.2f}")
    claim("order of soft, short of 2 by", 2 - float(rate), 0.4)


def creep() -> None:
    """A box of 1 kg and 0.2 m on a slope of 0.35 rad, μ = 0.7, for 10 s at 2 ms; from where it is after 0.5 s on."""
    angle = 0.35
    robot = body("box", Box((0.2, 0.2, 0.2)))
    corners = [simulate.SphereContact("box", point=(x, y, -0.1)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    n = np.array([-np.sin(angle), 0, np.cos(angle)])
    q = np.r_[0.1 * n, np.cos(angle / 2), 0, -np.sin(angle / 2), 0]
    print("Creep on a slope, 10 s")
    for method in ("contact", "events", "soft"):
        ground = simulate.Ground(friction=0.7, normal=tuple(n))
        run = simulate.Simulator(robot, 0.002, method, corners, ground)(q, seconds=10.0, every=250)
        moved = float(np.linalg.norm(run.q[-1, :3] - run.q[0, :3]))
        claim(f"creep, {method}, in m", moved, 1e-6)
    for name, cone, noslip in (
        ("default", mujoco.mjtCone.mjCONE_PYRAMIDAL, 0),
        ("elliptic cones", mujoco.mjtCone.mjCONE_ELLIPTIC, 0),
        ("elliptic cones, noslip", mujoco.mjtCone.mjCONE_ELLIPTIC, 10),
    ):
        print(f"    MuJoCo {mujoco.__version__}, {name}: {mujoco_creep(angle, cone, noslip):.2g} m")


def mujoco_creep(angle: float, cone: int, noslip: int) -> float:
    """The same box in MuJoCo, gravity turned."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.002" gravity="{-G * np.sin(angle)} 0 {-G * np.cos(angle)}"/><worldbody>
        <geom type="plane" size="5 5 1" friction="0.7"/><body pos="0 0 0.1"><freejoint/>
        <geom type="box" size="0.1 0.1 0.1" mass="1" friction="0.7"/></body></worldbody></mujoco>"""
    )
    model.opt.cone, model.opt.noslip_iterations = cone, noslip
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 250)
    start = data.qpos[:3].copy()
    mujoco.mj_step(model, data, 4750)
    return float(np.linalg.norm(data.qpos[:3] - start))


def depth() -> None:
    """The quadruped that comes with the library, dropped on its feet from 0.3 m, 16 times."""
    robot = mb.load("quadruped")
    frames = [frame for frame in robot.frames if frame.startswith("foot")]
    feet = [simulate.SphereContact(frame, radius=0.02) for frame in frames]
    rng = np.random.default_rng(0)
    q = np.tile(robot.home(), (16, 1))
    q[:, 7:] += rng.normal(0.0, 0.05, (16, 12))
    q[:, 2] += 0.32 - np.min([robot.pose(frame, q).position[:, 2] for frame in frames], axis=0)
    print("A quadruped lands from 0.3 m, 16 times: its deepest foot, in the whole second")
    for method, dt in (("contact", 0.002), ("contact", 0.005), ("contact", 0.01), ("events", 0.005), ("soft", 0.005)):
        simulator = simulate.Simulator(robot, dt, method, feet, simulate.Ground(), simulate.PD(80.0, 2.0))
        run = simulator(q, seconds=1.0, inputs=robot.home()[7:])
        low = 0.02 - min(robot.pose(frame, run.q).position[..., 2].min() for frame in frames)
        assert (run.failed < 0).all()
        if method == "soft":
            print(f"    {method}, {1e3 * dt:g} ms, 2e4 N/m: {low:.2g} m")
        else:
            claim(f"depth, {method}, {1e3 * dt:g} ms, in m", max(0.0, float(low)), 1e-4)


def times() -> None:
    """A ball that bounces with e = 0.8, steps of 10 ms; a mass that is lifted off at 0.3 s, steps of 16 ms."""
    robot, contacts = body("ball", Sphere(0.1)), [simulate.SphereContact("ball", radius=0.1)]
    e, first = 0.8, np.sqrt(2 / G)
    simulator = simulate.Simulator(robot, 0.01, "events", contacts, simulate.Ground(restitution=e))
    run = simulator(at(robot, 1.1), seconds=2.5)
    assert run.touchdown is not None
    told = np.unique(run.touchdown[np.isfinite(run.touchdown)])[:4]
    exact = first * (1 + 2 * np.cumsum([0.0, e, e**2, e**3]))
    print("Times of events")
    claim("first four bounces of a ball at 10 ms, in s", float(np.abs(told - exact).max()), 1e-9)
    robot, contacts = puck()
    simulator = simulate.Simulator(
        robot, 0.016, "events", contacts, controller=lambda t, _q, _v: np.stack([0.0 * t, G / 0.3 * t])
    )
    run = simulator([0.0, 0.0], seconds=0.4)
    assert run.liftoff is not None
    claim("lift-off at 16 ms, in s", float(abs(run.liftoff[-1, 0] - 0.3)), 1e-9)


def bits() -> None:
    """Boxes that fall: alone, in a batch, on two threads, and in two halves."""
    robot = body("box", Box((0.2, 0.2, 0.2)))
    corners = [simulate.SphereContact("box", point=(x, y, -0.1)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    rng = np.random.default_rng(1)
    q = robot.random(rng, 37)
    q[:, :3] = 0.0, 0.0, 0.4
    v = rng.standard_normal((37, 6))
    print("Equal bits")
    for method in ("contact", "soft", "events"):
        simulator = simulate.Simulator(robot, 0.005, method, corners)
        whole = simulator(q, v, seconds=1.0)
        half = simulator(q, v, seconds=0.5)
        others = (
            simulator(q[5], v[5], seconds=1.0).q[-1] == whole.q[5, -1],
            simulator(q, v, seconds=1.0, threads=2).q == whole.q,
            simulator(half, seconds=0.5).q[:, -1] == whole.q[:, -1],
        )
        claim(f"{method}: numbers that differ", float(sum((~same).sum() for same in others)), 0.0)


def main() -> None:
    """All of them."""
    tumble(20_000 if "--quick" in sys.argv else 1_000_000)
    order()
    soft_order()
    creep()
    times()
    bits()
    depth()
    print("all promises hold" if not failed else f"{len(failed)} do not hold: {', '.join(failed)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
