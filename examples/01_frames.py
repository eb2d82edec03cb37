"""A camera on a robot arm looks at a cup: composing poses, moving twists, and three ways to write one velocity."""

import numpy as np

import multibody as mb
from multibody.geometry import representations

np.set_printoptions(precision=4, suppress=True)

# W world, B the arm's base, H its hand, C the camera, P the cup
W_H_B = mb.Pose(mb.Rotation.elementary("z", np.pi / 4), [1.0, 0.5, 0.0])
B_H_H = mb.Pose(mb.Rotation.from_euler("zyx", [0.2, 0.8, 0.1]), [0.5, 0.1, 0.6])
H_H_C = mb.Pose(mb.Rotation.from_angle_axis(np.pi / 2, [0.0, 1.0, 0.0]), [0.05, 0.0, 0.08])
C_p_P = np.array([0.1, -0.02, 0.7])

W_H_C = W_H_B @ B_H_H @ H_H_C
W_p_P = W_H_C @ C_p_P
print("the cup in the world:     ", W_p_P)
print("and back in the camera:   ", W_H_C.inverse() @ W_p_P)

# The hand turns and moves. The camera is fixed to it, so both have one twist, written in different frames.
W_H_H = W_H_B @ B_H_H
H_v_WH = mb.Twist(linear=[0.1, 0.0, 0.05], angular=[0.0, 0.3, 0.5])
C_v_WC = H_H_C.inverse() @ H_v_WH
print("\ntwist of the hand, in the hand:    ", H_v_WH.vector)
print("twist of the camera, in the camera:", C_v_WC.vector)
for target in ("left", "right", "mixed"):
    v = representations.velocity(W_H_H, H_v_WH.vector, "left", target)
    print(f"twist of the hand, {target:5s}:          ", v)

# The mixed one is what finite differences of the position see.
dt = 1e-6
step = (W_H_H.integrate(H_v_WH.vector, dt).position - W_H_H.position) / dt
mixed = representations.velocity(W_H_H, H_v_WH.vector, "left", "mixed")[:3]
print("\nfinite difference of the position: ", step)
assert np.allclose(step, mixed, atol=1e-6)

# A force at the camera does the same work however it is written.
C_f = mb.Wrench(force=[0.0, 0.0, 5.0], torque=[0.1, 0.0, 0.0])
H_f = H_H_C @ C_f
print("power in the camera's frame and in the hand's:", C_v_WC.power(C_f), H_v_WH.power(H_f))
assert np.isclose(C_v_WC.power(C_f), H_v_WH.power(H_f))
