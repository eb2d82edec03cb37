"""Identification of the Panda: which masses and inertias its torques can tell, and how noise gets in the way.

The arm moves along waves, its torques are measured with noise, and its parameters are fitted: once freely, once so that
every link is a body that can exist, beginning from a rough guess. The test is a motion that was not in the data. Give a
path to save a plot.
"""

import sys

import numpy as np

import multibody as mb
from multibody.geometry import log_cholesky

robot = mb.load("panda")
rng = np.random.default_rng(0)
base = mb.identification.base_parameters(robot.tree)
print(
    f"{robot.name} has {robot.parameters().size} inertial parameters; its torques depend on {base.count} combinations"
)


def motion(seconds, rate, seed):
    """Sums of five waves for every joint: q, v and a at `rate` samples a second."""
    waves = np.random.default_rng(seed)
    t = np.arange(0, seconds, 1 / rate)[:, None, None]
    w = 2 * np.pi / 10 * np.arange(1, 6)[:, None]  # rad/s, (5, 1)
    size, phase = waves.uniform(0, 0.25, (5, 7)), waves.uniform(0, 2 * np.pi, (5, 7))
    s, c = size * np.sin(w * t + phase), size * np.cos(w * t + phase)
    return robot.home() + s.sum(axis=1), (w * c).sum(axis=1), -(w**2 * s).sum(axis=1)


# A guess as from a drawing: masses off by some 20 %, sizes too, centres of mass by a centimetre.
spread = np.array([0.2, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0, 0.01, 0.01, 0.01])
theta = log_cholesky.from_parameters(robot.parameters())
guess = log_cholesky.parameters(theta + rng.uniform(-spread, spread, theta.shape))

q, v, a = motion(10.0, 50, seed=1)
tau = robot.inverse_dynamics(q, v, a)
test = motion(10.0, 20, seed=2)
truth = robot.inverse_dynamics(*test)
predict = robot.kernel("inverse_dynamics", parameters="inertias")


def error(parameters):
    """The root of the mean square of the errors of torques on the test, in N m."""
    return float(np.sqrt(np.mean((predict(*test, parameters) - truth) ** 2)))


noises = np.geomspace(0.01, 10.0, 7)  # N m, standard deviations
errors = {"least squares": [], "bodies that can exist": []}
bodies = []
print(f"the guess is wrong by {error(guess):.2f} N m; after {len(q)} samples of torques with noise:")
for noise in noises:
    measured = tau + noise * rng.standard_normal(tau.shape)
    free = mb.identification.identify(robot.tree, q, v, a, measured, prior=guess, regularisation=0.0)
    pull = noise**2 / np.sum(measured**2)  # as probable as the noise makes it
    kept = mb.identification.identify(robot.tree, q, v, a, measured, prior=guess, consistent=True, regularisation=pull)
    errors["least squares"].append(error(free.parameters))
    errors["bodies that can exist"].append(error(kept.parameters))
    bodies.append(int(free.physical.sum()))
    print(
        f"  noise {noise:6.2f} N m: least squares {errors['least squares'][-1]:.3f} N m, with {bodies[-1]} of 7 links "
        f"that can exist; all that can exist: {errors['bodies that can exist'][-1]:.3f} N m"
    )
    assert kept.physical.all()
    assert kept.converged

free, kept = (np.array(x) for x in errors.values())
assert free[0] < 0.1 * error(guess), "clean data make a good model"
assert kept[-1] < free[-1], "when data are bad, what is known of bodies helps"

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for (name, values), mark in zip(errors.items(), "os", strict=True):
        axes.loglog(noises, values, f"{mark}-", label=name)
    axes.axhline(error(guess), color="gray", ls="--", label="the guess")
    axes.set(xlabel="noise of the torques [N m]", ylabel="error on another motion [N m]")
    axes.set_title("Identification of the Panda from ten seconds of motion")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
