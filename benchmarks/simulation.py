"""Claim: landings 20 times as fast as MuJoCo's at no larger error: python benchmarks/simulation.py [--quick]

ANYmal with PD control is dropped on its four feet from 0.1 m, from random states. Beside it in the same run MuJoCo, one
robot after the other, with its elliptic cones and implicit integrator, from one model of the same URDF. The error of a
time step is the median, over landings, of the base's largest distance from the path of the same engine at 40 or 50 µs.
Then float32 beside float64, and the creep of a box on a slope, beside MuJoCo with and without its noslip option.
Exit status 1 when a claim does not hold.
"""

import sys
import tempfile
import time
import warnings
from pathlib import Path

import mujoco
import numpy as np
from _robots import CASES, robot_data
from lxml import etree

import multibody as mb
from multibody import simulate
from multibody.model.shapes import Box

FEET, RADIUS, FRICTION, GAINS = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"), 0.031, 0.8, (100.0, 2.0)
STAND = np.array([-0.1, 0.7, -1.0, 0.1, 0.7, -1.0, -0.1, -0.7, 1.0, 0.1, -0.7, 1.0])
ROWS = 50
failed: list[str] = []


def claim(what: str, value: float, least: float) -> None:
    """Print a figure beside its bar."""
    print(f"  {'ok  ' if value >= least else 'FAIL'} {what}: {value:.3g} (at least {least:.3g})")
    if not value >= least:
        failed.append(what)


def urdf() -> str:
    """ANYmal without meshes, a sphere at each foot, its trunk's mass in the root."""
    root = etree.parse(robot_data() / CASES["anymal"].path).getroot()
    links = {link.get("name"): link for link in root.findall("link")}
    for link in links.values():
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)
        if link.get("name") in FEET:
            link.append(etree.fromstring(f'<collision><geometry><sphere radius="{RADIUS}"/></geometry></collision>'))
    trunk = next(joint for joint in root.findall("joint") if joint.find("child").get("link") == "base_inertia")
    base = links[trunk.find("parent").get("link")]
    for part in base.findall("inertial"):
        base.remove(part)
    base.append(links["base_inertia"].find("inertial"))
    root.remove(trunk)
    root.remove(links["base_inertia"])
    for part in [*root.findall("gazebo"), *root.findall("transmission"), *root.findall("material")]:
        root.remove(part)
    return etree.tostring(root, encoding="unicode")


def peer(text: str, dt: float) -> mujoco.MjModel:
    """The same robot and controller in MuJoCo."""
    options = '<mujoco><compiler discardvisual="true" fusestatic="true"/></mujoco></robot>'
    spec = mujoco.MjSpec.from_string(text.replace("</robot>", options))
    spec.bodies[1].add_freejoint()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    for geom in spec.geoms:
        geom.friction, geom.condim = [FRICTION, 0.005, 1e-4], 3
        if geom.type == mujoco.mjtGeom.mjGEOM_SPHERE:
            geom.contype, geom.conaffinity = 0, 1
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_HINGE:
            joint.damping, joint.frictionloss, joint.limited, joint.actfrclimited = [0, 0, 0], 0, 0, 0
            motor = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.gainprm[0], motor.biastype = GAINS[0], mujoco.mjtBias.mjBIAS_AFFINE
            motor.biasprm[1], motor.biasprm[2] = -GAINS[0], -GAINS[1]
    model = spec.compile()
    model.opt.timestep, model.opt.cone = dt, mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return model


def theirs(model: mujoco.MjModel, Q: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Paths of the base over a second, (samples, ROWS, 3)."""
    data, paths = mujoco.MjData(model), np.empty((len(Q), ROWS, 3))
    every = round(1.0 / ROWS / model.opt.timestep)
    for q, v, path in zip(Q, V, paths, strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, STAND
        for row in path:
            mujoco.mj_step(model, data, every)
            row[:] = data.qpos[:3]
    return paths


def ours(robot: mb.Robot, dt: float, **options: object) -> simulate.Simulator:
    """The landing in this library."""
    feet = [simulate.SphereContact(foot, radius=RADIUS) for foot in FEET]
    ground, controller = simulate.Ground(friction=FRICTION), simulate.PD(*GAINS)
    return simulate.Simulator(robot, dt, contacts=feet, ground=ground, controller=controller, **options)  # type: ignore[arg-type]


def starts(robot: mb.Robot, count: int) -> tuple[np.ndarray, np.ndarray]:
    """States with feet 0.1 m above the ground."""
    rng = np.random.default_rng(1)
    q = np.concatenate([robot.neutral()[:7], STAND])
    turned = np.c_[np.zeros((count, 3)), 0.06 * rng.normal(size=(count, 3)), 0.05 * rng.normal(size=(count, 12))]
    Q = robot.integrate(np.tile(q, (count, 1)), turned)
    Q[:, 2] -= np.min([robot.pose(foot, Q).position[:, 2] for foot in FEET], axis=0) - RADIUS - 0.1
    V = np.zeros((count, 18))
    V[:, :2] = 0.3 * rng.normal(size=(count, 2))
    return Q, V


def error(paths: np.ndarray, limit: np.ndarray) -> float:
    return float(np.median(np.linalg.norm(paths - limit, axis=-1).max(axis=1)))


def least(function: object, repeats: int = 4) -> float:
    """The least CPU time of some calls, in s."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        function()  # type: ignore[operator]
        times.append(time.process_time() - begun)
    return min(times)


def creep() -> None:
    """A box of 1 kg on a slope of 0.35 rad with friction 0.7, 2 ms: how far it creeps in 10 s."""
    slope, half = 0.35, 0.1
    scene = (
        f'<mujoco><option timestep="0.002" gravity="{9.81 * np.sin(slope)} 0 {-9.81 * np.cos(slope)}"/><worldbody>'
        '<geom type="plane" size="9 9 1" friction="0.7 0.005 0.0001"/><body pos="0 0 0.1"><freejoint/>'
        '<geom type="box" size="0.1 0.1 0.1" mass="1" friction="0.7 0.005 0.0001"/></body></worldbody></mujoco>'
    )
    theirs_creep = {}
    for name, cone, slips in (("default", 0, 0), ("elliptic", 1, 0), ("elliptic, noslip", 1, 10)):
        model = mujoco.MjModel.from_xml_string(scene)
        model.opt.cone, model.opt.noslip_iterations = cone, slips
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 250)  # settled
        start = data.qpos[:3].copy()
        mujoco.mj_step(model, data, 5000)
        theirs_creep[name] = float(np.linalg.norm(data.qpos[:3] - start))
    normal = (np.sin(slope), 0.0, np.cos(slope))
    box = mb.Robot(mb.Builder("box").body("box", shape=Box((0.2, 0.2, 0.2)), mass=1.0).model(floating=True))
    corners = [contact for contact in simulate.contacts_of(box) if contact.point[2] < 0]
    ground = simulate.Ground(friction=0.7, normal=normal)
    q = np.r_[half * np.array(normal), np.cos(slope / 2), 0.0, np.sin(slope / 2), 0.0]
    mine = simulate.Simulator(box, 0.002, contacts=corners, ground=ground)(q, seconds=10.0, every=5000).last[0]
    distance = max(1e-12, float(np.linalg.norm(mine[:3] - q[:3])))
    print(f"creep in 10 s: {distance:.1e} m; MuJoCo " + ", ".join(f"{k} {x:.1e} m" for k, x in theirs_creep.items()))
    claim("creep, 1e-6 m over ours", 1e-6 / distance, 1.0)


def main() -> None:
    quick = "--quick" in sys.argv
    text = urdf()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RobotFileWarning)
        path = Path(folder) / "anymal.urdf"
        path.write_text(text)
        robot = mb.load(str(path), floating=True)
    count, batch = (8, 256) if quick else (24, 1024)
    Q, V = starts(robot, count)
    many = np.resize(Q, (batch, Q.shape[1])), np.resize(V, (batch, V.shape[1]))
    fine = ours(robot, 4e-5)(Q, V, seconds=1.0, every=500, inputs=STAND).q[..., :3]
    exact = theirs(peer(text, 5e-5), Q, V)
    for mine, other, factor in ((0.005, 0.002, 20.0), (0.002, 0.001, 15.0)):
        simulator, model = ours(robot, mine), peer(text, other)
        every = round(1.0 / ROWS / mine)
        wrong = error(simulator(Q, V, seconds=1.0, every=every, inputs=STAND).q[..., :3], fine)
        their_wrong = error(theirs(model, Q, V), exact)
        run = lambda simulator=simulator: simulator(*many, seconds=1.0, every=10**6, inputs=STAND, threads=1)  # noqa: E731
        run()
        seconds, theirs_seconds = batch / least(run), 4 / least(lambda model=model: theirs(model, Q[:4], V[:4]))
        alone = 1.0 / least(lambda s=simulator: s(Q[0], V[0], seconds=1.0, every=10**6, inputs=STAND))
        print(f"{1e3 * mine:g} ms beside MuJoCo at {1e3 * other:g} ms: errors {wrong:.1e} and {their_wrong:.1e} m")
        print(f"  simulated s in a second: {seconds:.0f} in a batch, {alone:.0f} alone, MuJoCo {theirs_seconds:.0f}")
        claim("in a batch, of MuJoCo's", seconds / theirs_seconds, factor)
        claim("alone, of MuJoCo's", alone / theirs_seconds, 4.0)
        claim("error of MuJoCo's over ours", their_wrong / wrong, 1.0)
    single, double = ours(robot, 0.005, dtype="float32"), ours(robot, 0.005)
    short = lambda: single(*many, seconds=1.0, every=10**6, inputs=STAND, threads=1)  # noqa: E731
    long = lambda: double(*many, seconds=1.0, every=10**6, inputs=STAND, threads=1)  # noqa: E731
    short(), long()
    claim("float32, of float64's speed", least(long) / least(short), 1.7)
    creep()
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
