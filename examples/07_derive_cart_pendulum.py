"""A cart with a pendulum, from its description to a controller: formulas, proof, linear model, native code.

The equations of motion are derived by every method that fits, and compared. Close to the upright rest they become
x' = A x + B u, for which a linear-quadratic controller is found; the nonlinear equations become a kernel, in which the
controller catches the pendulum from a batch of angles. Give a path to save a plot.
"""

import sys
import time

import numpy as np
import sympy as sp

import multibody as mb
from multibody import derive

# Describe

x, theta = derive.coordinates("x theta")
M, m, l, g, c, F = derive.symbols("M m l g c F")
bob = (x + l * sp.sin(theta), 0, -l * sp.cos(theta))
system = derive.System(
    "cart with a pendulum",
    (x, theta),
    (derive.particle("cart", M, (x, 0, 0)), derive.particle("bob", m, bob, parent="cart")),
    gravity=(0, 0, -g),
    loads=(derive.Damper(c, x), derive.Force("cart", (F, 0, 0))),
)

# Derive, and compare

begun = time.perf_counter()
derived = {method: derive.equations(system, method) for method in derive.applicable(system)}
spent = time.perf_counter() - begun
first = derived["lagrange"]
print(first.unicode())
for method, equations in derived.items():
    assert first.equal(equations), method
print(f"{len(derived)} methods agree, exactly: {', '.join(derived)}; derived in {spent:.1f} s\n")

# Linearise, and find a controller

values = {"M": 1.0, "m": 0.3, "l": 0.6, "g": 9.81, "c": 0.1}
for place in first.equilibria():
    A, B = first.linearize({**place, **values})
    print(f"at theta = {place[theta]}: eigenvalues {np.round(np.linalg.eigvals(A), 2) + 0}")
A, B = first.linearize({theta: sp.pi, **values})


def gains(A, B, Q, R):
    """K of u = -K x that makes the integral of x^T Q x + u^T R u least, from the stable half of the Hamiltonian."""
    n, weight = len(A), B @ np.linalg.inv(R) @ B.T
    ends, vectors = np.linalg.eig(np.block([[A, -weight], [-Q, -A.T]]))
    stable = vectors[:, ends.real < 0]
    return np.linalg.inv(R) @ B.T @ np.real(stable[n:] @ np.linalg.inv(stable[:n]))


K = gains(A, B, Q=np.diag([10.0, 10.0, 1.0, 1.0]), R=np.eye(1))
upright = np.array([0.0, np.pi, 0.0, 0.0])
assert (np.linalg.eigvals(A - B @ K).real < 0).all()

# Compile, and simulate: the controller, the equations and the time loop are one kernel

DT, SECONDS, KEEP = 0.002, 6.0, 10
rate = first.kernel("state_rate", values)


def motion(s):
    """The rate of the state s = (x, theta, x', theta') under control."""
    return np.concatenate(rate(s[:2], s[2:], -K @ (s - upright)))


def step(s):
    """One step of Runge and Kutta."""
    k1 = motion(s)
    k2 = motion(s + DT / 2 * k1)
    k3 = motion(s + DT / 2 * k2)
    k4 = motion(s + DT * k3)
    s = s + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return s, s


begun = time.perf_counter()
loop = mb.compile_scan(step, 4)
compiled = time.perf_counter() - begun
angles = np.radians(np.linspace(0, 89, 357))
start = upright + np.outer(angles, [0, 1, 0, 0])
begun = time.perf_counter()
end, path = loop(start, steps=int(SECONDS / DT), every=KEEP)
spent = time.perf_counter() - begun
print(f"\n{rate}, a loop of them compiled in {compiled:.1f} s")
faster = len(angles) * SECONDS / spent
print(f"{len(angles)} falls of {SECONDS:g} s in {1000 * spent:.0f} ms: {faster:.0f} times faster than real time")
caught = np.abs(end - upright).max(axis=-1) < 0.05
limit = np.degrees(angles[caught].max())
print(f"the pendulum is caught from up to {limit:.1f}° off")
assert caught[angles < np.radians(20)].all()
assert not caught.all()

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    times = DT * KEEP * np.arange(1, path.shape[-2] + 1)
    for k in np.flatnonzero(caught)[:: max(1, caught.sum() // 6)]:
        left.plot(times, np.degrees(path[k, :, 1] - np.pi), label=f"{np.degrees(angles[k]):.0f}°")
        right.plot(times, path[k, :, 0])
    left.set(xlabel="time [s]", ylabel="pendulum, from upright [degrees]", title="caught by the linear controller")
    left.legend(title="dropped at", fontsize=8, loc="upper right")
    right.set(xlabel="time [s]", ylabel="cart [m]", title="what the cart does for it")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
