"""A falling quadruped kicks its legs: its momentum does not care.

Motors are inside of the robot. Whatever they do, the linear momentum changes by gravity alone, and the angular momentum
about the centre of mass stays. The trunk turns all the same: that is how a cat lands on its feet.
"""

import sys

import numpy as np

import multibody as mb

DT, SECONDS, KEEP = 0.0005, 0.5, 10
STEPS = int(SECONDS / DT)

robot = mb.load("quadruped")
stand = robot.home()[7:]
rng = np.random.default_rng(0)
rate = 2 * np.pi * np.array([3.0, 4.0, 4.0] * 4)  # rad/s
swing = np.array([0.4, 0.5, 0.5] * 4)  # rad
phase = rng.uniform(0, 2 * np.pi, 12)


def step(state):
    """One step of the fall; the legs follow waves by springs and dampers in their joints."""
    q, v, t = state
    goal = stand + swing * (np.sin(rate * t + phase) - np.sin(phase))
    motors = 20.0 * (goal - q[7:]) - 0.5 * v[6:]
    tau = np.concatenate([np.zeros_like(v[:6]), motors])  # nothing pushes the base
    a = robot.forward_dynamics(q, v, tau)  # the midpoint rule, for q and v together
    middle = robot.forward_dynamics(robot.integrate(q, DT / 2 * v), v + DT / 2 * a, tau)
    next_q = robot.integrate(q, DT * (v + DT / 2 * a))
    return (next_q, v + DT * middle, t + DT), (q, v, t)


loop = mb.compile_scan(step, [19, 18, 1])
start = robot.home()
start[2] = 3.0  # m up
_, (q, v, t) = loop((start, np.zeros(18), np.zeros(1)), steps=STEPS, every=KEEP)

quantities = robot.evaluate(q, v, ["centroidal_momentum", "center_of_mass", "kinetic_energy", "potential_energy"])
momentum = quantities["centroidal_momentum"]
expected = robot.mass * np.array(robot.model.gravity) * t
print(f"fell {quantities['center_of_mass'][0, 2] - quantities['center_of_mass'][-1, 2]:.3f} m in {t[-1, 0]:.3f} s")
print(f"linear momentum: {momentum[-1, :3].round(3) + 0.0} kg m/s, gravity alone gives {expected[-1].round(3) + 0.0}")
print(f"angular momentum about the centre of mass: at most {np.abs(momentum[:, 3:]).max():.1e} kg m²/s")
turned = mb.Rotation.from_quaternion(q[:, 3:7]).rotation_vector
print(f"the trunk has turned by {np.degrees(np.linalg.norm(turned[-1])):.1f} degrees, without any angular momentum")
legs = robot.kinetic_energy(q, v - np.pad(v[:, :6], ((0, 0), (0, 12)))).max()
print(f"the legs were busy: up to {legs:.2f} J of motion relative to the trunk")
assert np.allclose(momentum[:, :3], expected, atol=1e-3)
assert np.abs(momentum[:, 3:]).max() < 1e-3

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.subplots(1, 3)
    axes[0].plot(t, q[:, 7:10], label=["abduction", "hip", "knee"])
    axes[0].set(title="a leg", xlabel="time [s]", ylabel="angles [rad]")
    axes[1].plot(t, momentum[:, :3], label=["x", "y", "z"])
    axes[1].set(title="linear momentum", xlabel="time [s]", ylabel="kg m/s")
    axes[2].plot(t, np.degrees(turned), label=["x", "y", "z"])
    axes[2].set(title="rotation of the trunk", xlabel="time [s]", ylabel="degrees")
    for each in axes:
        each.legend()
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
