"""Kernels of many robots, on batches: each sample as if it were alone, bit for bit, and as Pinocchio has it.

Three small robots by default; all files of example-robot-data as slow tests, every second one with a base that floats.
"""

import numpy as np
import pinocchio as pin
import pytest

from ..robot.robots import identical, parts
from .pinocchio_peer import CONDITION, STILL, Peer, close, named, peer
from .robot_data import REFUSED, urdfs

FILES = [path for path in urdfs() if path not in REFUSED]
SAMPLE = (
    "finger_edu_description/robots/finger_edu.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "xarm_description/urdf/xarm7.urdf",
)
COUNT = 5
"""Of samples: a whole vector of 4 and one more."""


def floats(path: str) -> bool:
    return path in STILL or FILES.index(path) % 2 == 0


def mass_matrix(p: Peer, y: np.ndarray) -> np.ndarray:
    """Pinocchio's, in its own velocities."""
    M = np.triu(pin.crba(p.model, p.data, y))
    return M + np.triu(M, 1).T


def test_there_are_enough_of_both() -> None:
    assert len(FILES) >= 30
    assert sum(map(floats, FILES)) >= 15
    assert {floats(path) for path in SAMPLE} == {False, True}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=named(path, floats(path)), marks=() if path in SAMPLE else pytest.mark.slow)
        for path in FILES
    ],
)
def test_kernels_of_batches_agree(path: str) -> None:
    p = peer(path, floats(path), "kindr" if floats(path) else "left", compiled=True)
    robot, m, d, frame = p.robot, p.model, p.data, p.leaves[0]
    k = m.getFrameId(frame)
    rng = np.random.default_rng(8)
    q = np.fmod(robot.random(rng, (COUNT,)), 10.0)  # some files have limits of 1e16
    v, a, tau = rng.normal(size=(3, COUNT, robot.nv))
    y = [p.layout.q_to(one) for one in q]
    M = [mass_matrix(p, one) for one in y]
    calls = {
        "inverse_dynamics": (robot.kernel("inverse_dynamics"), (q, v, a)),
        "mass_matrix": (robot.kernel("mass_matrix"), (q,)),
        "jacobian": (robot.kernel("jacobian", frame), (q,)),
        "pose": (robot.kernel("pose", frame), (q,)),
    }
    if max(map(np.linalg.cond, M)) < CONDITION:
        calls["forward_dynamics"] = (robot.kernel("forward_dynamics"), (q, v, tau))
    found = {name: kernel(*args) for name, (kernel, args) in calls.items()}
    for i in range(COUNT):
        for name, (kernel, args) in calls.items():
            identical(tuple(x[i] for x in parts(found[name])), tuple(parts(kernel(*(x[i] for x in args)))))
        T = p.layout.v_to(q[i], np.eye(robot.nv)).T
        w, b = p.layout.v_to(q[i], v[i]), p.layout.a_to(q[i], v[i], a[i])
        close(found["inverse_dynamics"][i], T.T @ pin.rnea(m, d, y[i], w, b), "inverse dynamics")
        close(found["mass_matrix"][i], T.T @ M[i] @ T, "mass matrix")
        J = pin.computeFrameJacobian(m, d, y[i], k, pin.LOCAL_WORLD_ALIGNED)
        close(found["jacobian"][i], J @ T, f"Jacobian of {frame}")
        pin.framesForwardKinematics(m, d, y[i])
        R, x = found["pose"]
        close(R[i], d.oMf[k].rotation, f"rotation of {frame}")
        close(x[i], d.oMf[k].translation, f"position of {frame}")
        if "forward_dynamics" in found:
            theirs = pin.aba(m, d, y[i], w, p.layout.tau_to(q[i], tau[i]))
            close(found["forward_dynamics"][i], p.layout.a_from(y[i], w, theirs), "forward dynamics", 1e-8)
