"""A vector environment in one kernel: carts learn to balance their poles.

The environment is a function of one cart: a step of the simulator, a reward, the end of an episode, the next start.
`mb.compile_scan` makes kernels of it for any number of carts. One kernel takes actions from outside, step by step; in
the other the policy is a parameter, and a call runs whole episodes. Random numbers are drawn outside. The
cross-entropy method, six lines of NumPy, finds the weights of a linear policy. Give a path to save a plot.
"""

import sys
import time

import numpy as np

import multibody as mb
from multibody import simulate

DT, EPISODE, FORCE = 0.02, 500, 20.0
"""The time step in s, the length of an episode in steps, the largest force on the cart in N."""
MAX_TILT, MAX_DISTANCE, SPREAD = 0.4, 1.8, 0.2
"""In rad and m: an episode ends there; the largest deviation of a start, in each coordinate and velocity."""
FALL = 100.0
"""The reward that a fall costs. Without it, falling would be a cheap way to start anew."""

robot = mb.load("cart-pendulum")  # q = (x, angle); the pole hangs at an angle of 0
upright = np.array([0.0, np.pi])


def push(t, q, v, force):
    """The motor pushes the cart; nothing turns the pole."""
    del t, q, v
    return np.concatenate([force, np.zeros(1)])


simulator = simulate.Simulator(robot, dt=DT, method="rk4", controller=push)


def start(draw):
    """The first state of an episode, for four random numbers from -1 to 1."""
    first = simulator.start(upright + SPREAD * draw[..., :2], SPREAD * draw[..., 2:])
    return {"robot": first, "age": np.zeros_like(draw[..., 0])}


def observe(state):
    """(..., 4): position, angle from upright, and their rates."""
    return np.concatenate([state["robot"]["q"] - upright, state["robot"]["v"]], axis=-1)


def where(truth, this, that):
    """np.where for all arrays of nested dicts."""
    if isinstance(this, dict):
        return {name: where(truth, this[name], that[name]) for name in this}
    return np.where(truth, this, that)


def step(state, action, draw):
    """The next state, and what happened; where an episode ends, the next state is a new start."""
    after, _ = simulator.step(state["robot"], FORCE * np.tanh(action))
    now = {"robot": after, "age": state["age"] + 1.0}
    last = observe(now)
    fallen = (np.abs(last[0]) > MAX_DISTANCE) | (np.abs(last[1]) > MAX_TILT)
    ended = fallen | (now["age"] >= EPISODE)
    reward = np.where(fallen, -FALL, 1.0 - (last[0] / MAX_DISTANCE) ** 2)
    return where(ended, start(draw), now), {"reward": reward, "fallen": fallen, "ended": ended, "last": last}


def act(carry, draw, weights):
    """A step with a linear policy; the sums of rewards and of falls are carried, so outputs need not be kept."""
    state, rewards, falls = carry
    state, happened = step(state, np.reshape(weights @ observe(state), (1,)), draw)
    return (state, rewards + happened["reward"], falls + np.where(happened["fallen"], 1.0, 0.0)), happened["last"]


shapes = {"robot": {name: np.shape(x) for name, x in simulator.start(upright).items()}, "age": ()}
environment = mb.compile_scan(step, shapes, [1, 4])
rollout = mb.compile_scan(act, (shapes, (), ()), [4], [4])

rng = np.random.default_rng(0)
state = start(rng.uniform(-1, 1, (4096, 4)))
actions, draws = rng.normal(size=(50, 4096, 1, 1)), rng.uniform(-1, 1, (50, 4096, 1, 4))
environment(state, actions[0], draws[0])
before = time.process_time()
for action, draw in zip(actions, draws, strict=True):  # the loop around a policy of another library
    state, happened = environment(state, action, draw)
spent = time.process_time() - before
print(f"actions from outside: {1e-6 * actions.size / spent:.1f} million steps in a second of CPU time")


def evaluate(weights, starts, seed, width=1.0, every=None):
    """Means of rewards and falls, over the time of an episode, from random starts; the same starts for all policies."""
    draws = np.random.default_rng(seed).uniform(-width, width, (starts, 1 + EPISODE, 4))
    first = start(draws[:, 0]), np.zeros(starts), np.zeros(starts)
    (_, rewards, falls), seen = rollout(first, draws[:, 1:], weights[..., None, :], every=every)
    return rewards.mean(axis=-1), falls.mean(axis=-1), seen


mean, spread, curve, steps = np.zeros(4), np.ones(4), [], 0
before = time.process_time()
for iteration in range(20):
    weights = mean + spread * rng.normal(size=(64, 4))
    rewards, falls, _ = evaluate(weights, 32, seed=iteration, width=1.5)  # harder than the test
    best = weights[np.argsort(rewards)[-8:]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 1.0 / (1 + iteration)
    curve.append((rewards.min(), np.median(rewards), rewards.max()))
    steps += 64 * 32 * EPISODE
    if iteration in (0, 1, 2, 4, 9, 19):
        print(f"iteration {iteration + 1}: rewards of 64 policies, median {curve[-1][1]:.0f}, best {curve[-1][2]:.0f}")
spent = time.process_time() - before
print(f"{1e-6 * steps:.0f} million steps: {1e-6 * steps / spent:.1f} million in a second of CPU time")

before, after = (evaluate(w, 1000, seed=100, every=1) for w in (np.zeros(4), mean))
print(f"1,000 new starts: {before[1]:.1f} falls in 10 s without a policy, {after[1]:.2f} with weights {mean.round(1)}")
assert before[1] > 10, "without a policy poles fall"
assert after[1] == 0, "no pole falls in the time of an episode"
assert after[0] > 0.95 * EPISODE, "carts stay near the middle"


def balance(t, q, v):
    """The policy alone."""
    del t
    return np.stack([FORCE * np.tanh(mean @ np.concatenate([q - upright, v])), 0.0])


finer = simulate.Simulator(robot, dt=DT / 10, method="verlet", controller=balance, control_every=10)
run = finer(upright + SPREAD * rng.uniform(-1, 1, (100, 2)), seconds=60.0, every=100)
tilt = np.abs(run.q[:, -1, 1] - np.pi).max()
print(f"in plain simulations with steps of 2 ms, 100 poles stand for 60 s; then they tilt by {tilt:.1g} rad")
assert (np.abs(run.q[..., 1] - np.pi) < MAX_TILT).all()
assert tilt < 1e-3

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    learning, motion = figure.subplots(1, 2)
    low, middle, high = np.transpose(curve)
    iterations = 1 + np.arange(len(curve))
    learning.fill_between(iterations, low, high, color="0.88", label="all of 64 policies")
    learning.plot(iterations, middle, label="their median")
    learning.axhline(EPISODE, color="0.6", linestyle="--", linewidth=0.8)
    learning.set(xlabel="iteration", ylabel="rewards of an episode", xticks=[1, 5, 10, 15, 20])
    learning.legend(loc="lower right")
    seconds = DT * np.arange(1, EPISODE + 1)
    for k in range(20):
        motion.plot(seconds, np.degrees(after[2][k, :, 1]), color="tab:blue", linewidth=0.6)
    for k in range(3):
        fall = int(np.argmax(np.abs(before[2][k, :, 1]) > MAX_TILT)) + 1
        motion.plot(seconds[:fall], np.degrees(before[2][k, :fall, 1]), color="tab:red", linewidth=0.9)
    motion.plot([], [], color="tab:blue", label="20 new starts, learned policy")
    motion.plot([], [], color="tab:red", label="without a policy, until it falls")
    motion.set(xlabel="time [s]", ylabel="tilt of the pole [°]", xlim=(0, 5))
    motion.legend()
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
