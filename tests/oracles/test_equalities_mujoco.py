"""Constraints that MJCF files state, beside the rows and errors of MuJoCo."""

import mujoco
import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.constraints import ConstraintSet, JointCoupling, PointClosure, Weld, stated
from multibody.errors import InputError
from multibody.model import configuration
from multibody.model.layouts import MujocoLayout
from multibody.model.loaders import mjcf

BODIES = """
<body name="hull" pos="0 0 1"><freejoint name="free"/><geom type="box" size="0.3 0.2 0.1"/>
  <body name="left" pos="0.3 0.1 0" euler="10 20 30"><joint name="l1" axis="1 2 0" ref="20"/>
    <geom type="box" size="0.1 0.2 0.1" pos="0.1 0.1 0"/><site name="s" pos="0.3 0 0.1" quat="1 1 2 3"/></body>
  <body name="right" pos="0.3 -0.1 0"><joint name="r1" axis="0 1 1"/>
    <geom type="box" size="0.1 0.1 0.2" pos="0 0.1 0"/>
    <body name="arm" pos="0.2 0 0.2" euler="0 50 0"><joint name="r2" type="slide" axis="1 0 0.5" ref="0.3"/>
      <geom size="0.1" pos="0.1 0 0"/><site name="t" pos="0.1 0.2 0.1" quat="1 1 1 0"/></body></body></body>
"""
CASES = {
    "connect": '<connect name="one" body1="left" body2="arm" anchor="0.1 0.2 0.3"/>',
    "connect to the world": '<connect name="one" body1="arm" anchor="0.1 0.2 0.3"/>',
    "connect sites": '<connect name="one" site1="s" site2="t"/>',
    "weld": '<weld name="one" body1="left" body2="arm" anchor="0.1 -0.2 0.3"/>',
    "weld with a pose": '<weld name="one" body1="left" body2="arm" relpose="0.1 0.2 0.3 1 2 3 4" anchor="0 0.1 0"/>',
    "weld to the world": '<weld name="one" body1="arm"/>',
    "weld sites": '<weld name="one" site1="s" site2="t"/>',
    "joints": '<joint name="one" joint1="r2" joint2="l1" polycoef="0.2 -0.7 0 0 0"/>',
    "joints on a curve": '<joint name="one" joint1="r2" joint2="l1" polycoef="0.2 -0.7 0.3 0.5 -0.1"/>',
    "a joint alone": '<joint name="one" joint1="l1" polycoef="0.4 0 0 0 0"/>',
}


def text(equality: str) -> str:
    return f"<mujoco><worldbody>{BODIES}</worldbody><equality>{equality}</equality></mujoco>"


@pytest.mark.parametrize("case", CASES)
def test_rows_and_errors(case: str) -> None:
    """MuJoCo's errors are ours, and so are its rows; those of rotation have another measure, and the same kernel."""
    model = mjcf.read(text(CASES[case]), snap=0.0).model()
    (one,) = stated(model)
    m = mujoco.MjModel.from_xml_string(text(CASES[case]))
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE.value
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
    layout, d = MujocoLayout(model, m), mujoco.MjData(m)
    rng = np.random.default_rng(1)
    q = configuration.random(model.tree, rng)
    d.qpos[:] = layout.q_to(q)
    mujoco.mj_forward(m, d)
    found = ConstraintSet(model, [one])
    J = d.efc_J.reshape(-1, m.nv)
    theirs = np.stack([J @ layout.v_to(q, e) for e in np.eye(model.nv)], axis=-1)
    linear = min(3, one.rows)
    assert isinstance(one, {"c": PointClosure, "w": Weld, "j": JointCoupling, "a": JointCoupling}[case[0]])
    assert one.name == "one"
    assert len(theirs) == one.rows
    np.testing.assert_allclose(found.error(q)[:linear], d.efc_pos[:linear], atol=1e-9)
    np.testing.assert_allclose(found.jacobian(q)[:linear], theirs[:linear], atol=1e-9)
    v = rng.standard_normal(model.nv)
    h = 1e-6
    ahead, behind = (configuration.integrate(model.tree, q, s * h * v) for s in (1, -1))
    J_dot = (found.jacobian(ahead) - found.jacobian(behind)) / (2 * h)
    np.testing.assert_allclose(found.bias(q, v), J_dot @ v, atol=1e-6)
    if one.rows == 6:  # near zero, both turn by the same angle: MuJoCo's error is half of the vector's, by torquescale
        closed = q
        for _ in range(60):
            step = np.linalg.pinv(found.jacobian(closed), rcond=1e-9) @ found.error(closed)
            closed = configuration.integrate(model.tree, closed, -step / max(1.0, 2 * np.abs(step).max()))
        d.qpos[:] = layout.q_to(closed)
        mujoco.mj_forward(m, d)
        # the frames may be too far apart to meet: what is left is left by both
        np.testing.assert_allclose(found.error(closed)[:3], d.efc_pos[:3], atol=1e-9)
        turned = np.linalg.norm(found.error(closed)[3:])
        np.testing.assert_allclose(np.linalg.norm(d.efc_pos[3:]), np.sin(turned / 2), atol=1e-9)


def test_names_and_what_is_off() -> None:
    lines = '<joint joint1="r1"/><joint joint1="l1" active="false"/><joint name="a" joint1="r2"/>'
    model = mjcf.read(text(lines)).model()
    assert [one.name for one in stated(model)] == ["joint0", "a"]
    assert [one.name for one in stated(model, inactive=True)] == ["joint0", "joint1", "a"]
    twice = mjcf.read(text('<joint name="joint1" joint1="r1"/><joint joint1="r2"/>')).model()
    assert [(one.name, one.joint) for one in stated(twice)] == [("joint1", "r1"), ("joint1'", "r2")]


def test_a_closed_robot_from_a_file(tmp_path) -> None:
    """From the file to accelerations under its constraints."""
    (tmp_path / "loop.xml").write_text(text(CASES["connect"]))
    robot = mb.load(tmp_path / "loop.xml")
    loop = robot.constraints(mb.constraints.stated(robot.model))
    q, v = robot.neutral(), np.zeros(robot.nv)
    a, f = robot.constrained_dynamics(loop, q, v, v)
    np.testing.assert_allclose(loop.jacobian(q) @ a, np.zeros(3), atol=1e-9)
    assert np.abs(f).max() < 100.0


def test_kinds_without_a_counterpart() -> None:
    tendon = '<tendon><fixed name="t"><joint joint="r1" coef="1"/></fixed></tendon>'
    lines = text('<tendon name="pull" tendon1="t"/>').replace("</mujoco>", f"{tendon}</mujoco>")
    with pytest.raises(InputError, match="'pull' of the file is of the kind 'tendon'"):
        stated(mjcf.read(lines).model())
