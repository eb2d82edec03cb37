"""What gimbal lock is: the rates of Euler angles grow without bound, those of a quaternion do not.

Draws the largest singular value of E_R^-1, the gain from angular velocity to the rates of the parameters.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import multibody as mb
from multibody.geometry import rates

pitch = np.linspace(-np.pi / 2 + 1e-3, np.pi / 2 - 1e-3, 400)
A_R_B = mb.Rotation.elementary("z", 0.4) @ mb.Rotation.elementary("y", pitch) @ mb.Rotation.elementary("x", 0.2)

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
for name in ("euler-zyx", "euler-xyz", "euler-zyz", "rotation-vector", "quaternion"):
    chi = rates.parameters(name, A_R_B)
    gain = np.linalg.svd(rates.angular_inverse(name, chi), compute_uv=False)[:, 0]
    axes.semilogy(np.degrees(pitch), gain, label=name)
    print(f"{name:16s} gain from {gain.min():.2f} to {gain.max():.2f}")
axes.set(xlabel="pitch [degrees]", ylabel="gain of E_R^-1", title="Every set of three angles is singular somewhere")
axes.legend()

# At the singularity itself the library refuses, and says what to do; damping gives the best bounded answer.
locked = [0.4, np.pi / 2, 0.2]
try:
    rates.angular_inverse("euler-zyx", locked)
except mb.SingularityError as error:
    print("\nrefused:", error)
damped = rates.angular_inverse("euler-zyx", locked, damping=0.1)
print("damped inverse, largest entry:", round(float(np.abs(damped).max()), 2))
assert np.abs(damped).max() < 1 / (2 * 0.1)  # the bound of damped least squares

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
