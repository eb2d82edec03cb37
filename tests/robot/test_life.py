"""Robots as values: equality, pickles, copies, other processes, many threads at once."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.model.builder import Builder

from .robots import SMALL, identical, robot_of


def state(robot, batch=(3,)):
    rng = np.random.default_rng(5)
    return robot.random(rng, batch), *rng.standard_normal((2, *batch, robot.nv))


@pytest.mark.parametrize("name", SMALL)
def test_pickles_and_copies(name):
    robot = robot_of(name)
    args = state(robot)
    expected = robot.inverse_dynamics(*args)
    for twin in (pickle.loads(pickle.dumps(robot)), copy.copy(robot), copy.deepcopy(robot)):
        assert twin == robot
        assert hash(twin) == hash(robot)
        assert twin.dtype == robot.dtype
        identical(twin.inverse_dynamics(*args), expected)
    single = robot.astype("float32")
    assert pickle.loads(pickle.dumps(single)).dtype == np.float32


ELSEWHERE = """
import pickle, sys
robot, args = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps(robot.inverse_dynamics(*args)))
"""


def test_another_process_computes_the_same():
    robot = robot_of("double-pendulum")
    args = state(robot)
    command = [sys.executable, "-c", ELSEWHERE]
    ran = subprocess.run(command, input=pickle.dumps((robot, args)), capture_output=True, check=True, timeout=120)
    identical(pickle.loads(ran.stdout), robot.inverse_dynamics(*args))


def test_many_threads_compile_the_same_kernel_at_once():
    model = robot_of("double-pendulum").change(gravity=(0.0, 1.0, -2.0)).model
    robots = [mb.Robot(model)] * 2 + [mb.Robot(model) for _ in range(4)]
    args = state(robots[0])
    gate, found, errors = threading.Barrier(len(robots)), [], []

    def work(robot):
        try:
            gate.wait()
            found.append(robot.forward_dynamics(*args))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(robot,)) for robot in robots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for one in found:
        identical(one, found[0])
    assert len({id(robot.kernel("forward_dynamics")._code) for robot in robots}) == 1


def test_equality():
    robot = mb.load("double-pendulum")
    assert robot == mb.load("double-pendulum")
    assert robot != robot.change(gravity=(0, 0, 0))
    assert robot != robot.model
    assert len({robot, mb.load("double-pendulum"), robot.scale(2.0)}) == 2


def test_from_a_builder_and_from_nothing_else():
    b = Builder("one").body("link")
    assert mb.Robot(b).name == "one"
    with pytest.raises(InputError, match=r"expected a Model or a Builder, got str; mb.load reads files"):
        mb.Robot("panda")


def test_home_and_check():
    robot = mb.load("quadruped")
    q = robot.home()
    robot.check(q)
    q[0] = 5.0  # a copy: the robot's own is not touched
    assert robot.home()[0] != 5.0
    assert robot.neutral().shape == (robot.nq,)
    q[3] = 2.0
    with pytest.raises(InputError, match=r"quaternion \(w, x, y, z\) of joint .* has the length"):
        robot.check(q)
    tilted = np.stack([robot.home(), q])
    near_one = robot.normalize(tilted)
    np.testing.assert_allclose(np.linalg.norm(near_one[:, 3:7], axis=-1), 1.0, rtol=1e-15)
    out = np.empty_like(tilted)
    assert robot.normalize(tilted, out=out) is out
    identical(out, near_one)


def test_surgery_keeps_the_precision_and_leaves_the_robot():
    robot = robot_of("scara").astype("float32")
    joint = robot.joints[-1].name
    locked = robot.lock({joint: 0.1})
    assert locked.dtype == np.float32
    assert locked.nv == robot.nv - 1
    assert robot.nv == 4
    q = robot.random(np.random.default_rng(1))
    q[robot.joints[-1].q] = 0.1
    tip = robot.frames[-1]
    np.testing.assert_allclose(
        locked.pose(tip, np.delete(q, robot.joints[-1].q)).position, robot.pose(tip, q).position, atol=1e-6
    )
