"""An arm writes a figure of eight: inverse kinematics for every point of the path, each from the last answer.

Then the same arm is asked for ten thousand poses at once, and for one that is out of reach.
"""

import sys

import numpy as np

import multibody as mb
from multibody.control import InverseKinematics

robot = mb.load("panda")
ik = InverseKinematics(robot, "tool")

# a path: the tool points down, and draws a figure of eight in front of the arm
turns = np.linspace(0, 2 * np.pi, 201)
path = np.stack([0.45 + 0.1 * np.sin(2 * turns), 0.25 * np.sin(turns), np.full(201, 0.35)], axis=-1)
down = mb.Rotation.elementary("x", np.pi)
q = [ik(mb.Pose(down, path[0])).q]
for point in path[1:]:
    answer = ik(mb.Pose(down, point), q0=q[-1])
    assert answer.success
    assert not answer.restarted  # it goes on from where it is: no jump to another branch
    q.append(answer.q)
q = np.array(q)
off = np.linalg.norm(robot.pose("tool", q).position - path, axis=1)
largest = np.abs(np.diff(q, axis=0)).max()
print(f"201 points of a path, at most {1e6 * off.max():.0f} µm off, the largest step {largest:.3f} rad")

# ten thousand poses that the arm can reach
targets = robot.pose("tool", robot.random(np.random.default_rng(0), (10_000,)))
answers = ik(targets)
print(f"10,000 random poses: {100 * answers.success.mean():.2f} % reached, in {answers.rounds.mean():.1f} rounds each")
assert answers.success.all()

# and one that it cannot reach
answer = ik(mb.Pose(down, [1.2, 0.0, 0.4]))
print(f"1.2 m ahead: success {answer.success}, the nearest pose is {answer.position_error:.3f} m away")
assert not answer.success

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
    links = [f"link{k}" for k in range(8)] + ["tool"]
    for k in range(0, 200, 25):
        bones = np.array([robot.pose(name, q[k]).position for name in links])
        left.plot(*bones.T, "o-", color=str(0.75 - 0.5 * k / 200), ms=3)
    left.plot(*path.T, color="tab:red")
    left.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="the arm on its way")
    left.set_aspect("equal")
    right.plot(q, label=[joint.name for joint in robot.joints])
    right.set(xlabel="point of the path", ylabel="angles [rad]", title="its joints")
    right.legend(ncols=2, fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
