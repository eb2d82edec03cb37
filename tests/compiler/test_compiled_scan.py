"""Scans as values: nested states and inputs, samples that stop, arrays to write into, options, scans in functions."""

import pickle
import re
import threading

import numpy as np
import pytest

import multibody as mb
from multibody import InputError

from ..laws.tools import difference, near
from .cases import arrays

RNG = np.random.default_rng(0)
DT = 0.05


def step(state, u, p, wind=None):
    """A pendulum in dicts, driven, with friction and with wind if there is one."""
    q, v = state["q"], state["rest"][0]
    force = u["torque"] - p["friction"] * v - np.sin(q) + (0.0 if wind is None else wind)
    v = v + DT * force
    return {"q": q + DT * v, "rest": [v, state["rest"][1] + DT]}, {"energy": 0.5 * v**2 - np.cos(q), "both": (q, v)}


STATE = {"q": (), "rest": [(), ()]}


def listed(state, u, p, wind=None):
    """The same with a tuple where the declaration has a list."""
    following, output = step({"q": state["q"], "rest": list(state["rest"])}, u, p, wind)
    return {"q": following["q"], "rest": tuple(following["rest"])}, output


@pytest.fixture(scope="module")
def scan():
    return mb.compile_scan(listed, STATE, [{"torque": ()}], [{"friction": ()}], optional={"wind": ()})


def draw(batch, steps):
    state = {"q": RNG.normal(size=batch), "rest": (RNG.normal(size=batch), np.zeros(batch))}
    return state, {"torque": RNG.normal(size=(*batch, steps))}, {"friction": RNG.uniform(0, 1, batch)}


def plainly(state, u, p, steps, wind=None):
    kept = []
    for k in range(steps):
        state, output = listed(state, {"torque": u["torque"][..., k]}, p, None if wind is None else wind[..., k])
        kept.append(output)
    return state, kept


def test_nested_values(scan):
    state, u, p = draw((7,), 12)
    last, kept = scan(state, u, p, every=3)
    expected, outputs = plainly(state, u, p, 12)
    near(last["q"], expected["q"], 1e-13)
    near(last["rest"][1], np.full(7, 12 * DT), 1e-13)
    for k in range(4):
        near(kept["energy"][:, k], outputs[3 * k + 2]["energy"], 1e-13)
        near(kept["both"][1][:, k], outputs[3 * k + 2]["both"][1], 1e-13)


def test_inputs_that_do_not_change_and_outputs_that_are_not_kept(scan):
    state, u, p = draw((5,), 9)
    steady = {"torque": np.array(0.7)}
    expected = scan(state, {"torque": np.full((5, 9), 0.7)}, p)
    last, kept = scan(state, steady, p, steps=9)
    assert arrays(last)[0].tobytes() == arrays(expected[0])[0].tobytes()
    assert kept["energy"].tobytes() == expected[1]["energy"].tobytes()
    last, kept = scan(state, u, p, every=None)
    assert kept is None
    assert last["q"].tobytes() == scan(state, u, p)[0]["q"].tobytes()


def test_optional_inputs(scan):
    state, u, p = draw((5,), 9)
    wind = RNG.normal(size=(5, 9))
    near(scan(state, u, p, wind=wind)[0]["q"], plainly(state, u, p, 9, wind)[0]["q"], 1e-13)
    assert scan(state, u, p, wind=None)[0]["q"].tobytes() == scan(state, u, p)[0]["q"].tobytes()
    with pytest.raises(InputError, match="no optional input is called 'rain'; expected wind"):
        scan(state, u, p, rain=wind)


def test_arrays_to_write_into(scan):
    state, u, p = draw((5,), 9)
    last, kept = scan(state, u, p)
    out = (
        {"q": np.zeros(5), "rest": (np.zeros(5), np.zeros(5))},
        {"energy": np.zeros((5, 9)), "both": (np.zeros((5, 9)), np.zeros((9, 5)).T)},
    )
    assert scan(state, u, p, out=out) is out
    for place, array in zip(arrays(out), arrays((last, kept)), strict=True):
        np.testing.assert_array_equal(place, array)
    with pytest.raises(InputError, match=r"out: expected an array of shape \(5,\), got \(4,\)"):
        scan(state, u, p, out=({**out[0], "q": np.zeros(4)}, out[1]))
    with pytest.raises(InputError, match=r"out: expected \(state, outputs\), got int"):
        scan(state, u, p, out=3)
    with pytest.raises(InputError, match="out: expected dtype float64, got int64"):
        scan(state, u, p, out=({**out[0], "q": np.zeros(5, dtype=int)}, out[1]))
    with pytest.raises(InputError, match="out: expected an array of its own for each result, got one memory for 0 and"):
        scan(state, u, p, out=({"q": out[0]["q"], "rest": (out[0]["q"], np.zeros(5))}, out[1]))


def test_samples_that_are_done():
    """They keep their state bit for bit, and their outputs are NaN; others do not know of them."""
    falling = lambda x, g: ((x[0] + DT * x[1], x[1] - DT * g), x[0])
    bare = mb.compile_scan(falling, [(), ()], [], [()])
    scan = mb.compile_scan(falling, [(), ()], [], [()], until=lambda x: x[0] < 0)
    height = RNG.uniform(0.1, 9, 1001)
    (h, v), path = scan((height, np.zeros(1001)), 9.81, steps=40)
    _, free = bare((height, np.zeros(1001)), 9.81, steps=41)
    for n in range(0, 1001, 37):
        landed = np.flatnonzero(free[n] < 0)
        taken = landed[0] if len(landed) else 40
        assert path[n, :taken].tobytes() == free[n, :taken].tobytes()
        assert np.isnan(path[n, taken:]).all()
        assert h[n] == free[n, taken]
    order = RNG.permutation(1001)
    for threads in (1, 3):
        again = scan((height[order], np.zeros(1001)), 9.81, steps=40, threads=threads)
        assert again[1].tobytes() == path[order].tobytes()
        assert again[0][1].tobytes() == v[order].tobytes()
    with mb.eager():
        plain = scan((height[:5], np.zeros(5)), 9.81, steps=40)
    np.testing.assert_allclose(plain[1], path[:5], rtol=1e-12)
    begun = scan((np.array([1.0, -1.0]), np.zeros(2)), 9.81, steps=3)
    assert begun[0][0][1] == -1.0


def test_scans_in_functions(scan):
    """In a traced function a scan is a loop, and has derivatives."""

    def cost(friction, torque):
        state = {"q": 0.4, "rest": (0.0, 0.0)}
        last, kept = scan(state, {"torque": torque}, {"friction": friction}, every=2)
        return last["q"] ** 2 + np.sum(kept["energy"] ** 2)

    torque = RNG.normal(size=30)

    def plain(friction):
        last, kept = scan({"q": 0.4, "rest": (0.0, 0.0)}, {"torque": torque}, {"friction": friction}, every=2)
        return last["q"] ** 2 + np.sum(kept["energy"] ** 2)

    near(mb.compile(cost, (), 30)(0.3, torque), plain(0.3), 1e-12)
    slope = mb.compile(mb.gradient(cost, (0, 1)), (), 30)(0.3, torque)
    near(slope[0], difference(lambda t: plain(0.3 + t)), 1e-8)
    near(slope[1][7], difference(lambda t: cost(0.3, torque + t * np.eye(30)[7])), 1e-8)


def test_scans_that_stop_in_functions():
    scan = mb.compile_scan(lambda x, g: ((x[0] + DT * x[1], x[1] - DT * g), x[0]), [(), ()], [], [()],
                           until=lambda x: x[0] < 0)  # fmt: skip
    function = lambda g: scan((2.0, 0.0), g, steps=40)[0][0]
    near(mb.compile(function, ())(9.0), function(9.0), 1e-13)
    near(mb.compile(mb.gradient(function), ())(9.0), difference(lambda t: function(9.0 + t)), 1e-8)


def test_looking_inside(scan):
    assert "define void @kernel(" in scan.ir
    assert len(scan.asm) > 100
    assert "void step(" in scan.to_c().source
    scope = {}
    exec(scan.to_numpy(), scope)
    values = (0.4, 0.1, 0.0, 0.3, 0.2)
    expected = listed({"q": 0.4, "rest": (0.1, 0.0)}, {"torque": 0.3}, {"friction": 0.2})
    for emitted, plain in zip(scope["step"](*values), arrays(expected), strict=True):
        near(emitted, plain, 1e-13)


def test_pickles(scan):
    state, u, p = draw((5,), 9)
    twin = pickle.loads(pickle.dumps(scan))
    assert arrays(twin(state, u, p))[0].tobytes() == arrays(scan(state, u, p))[0].tobytes()
    for use in (lambda: twin.ir, twin.to_c, lambda: twin(state, u, p, wind=1.0)):
        with pytest.raises(InputError):
            use()
    with pytest.raises(InputError, match="a scan from a pickle came without its step"):
        mb.compile(
            lambda q: twin({"q": q, "rest": (0.0, 0.0)}, {"torque": 0.0}, {"friction": 1.0}, steps=3)[0]["q"], ()
        )


def test_keys(place, monkeypatch):
    hidden = threading.local()  # of which attributes are not compared
    hidden.calls = 0

    def counted(x):
        hidden.calls += 1
        return 2 * x, None

    first = mb.compile_scan(counted, (), key="doubled 1")
    assert first(1.0, steps=5)[0] == 32.0
    monkeypatch.setattr("multibody.compiler.cache.code_cache._alive", {})
    hidden.calls = 0
    second = mb.compile_scan(counted, (), key="doubled 1")
    assert not hidden.calls, "the step is not traced again"
    assert second(1.0, steps=5)[0] == 32.0
    assert len([path for path in place.iterdir() if path.suffix != ".alias"]) == 1


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"q": 0.0}, "state: expected a dict with keys q, rest, got keys q"),
        (3.0, "state: expected a dict with keys q, rest, got float"),
        ({"q": 0.0, "rest": 1.0}, "state: expected a tuple of 2 arrays, got 1.0"),
        ({"q": {}, "rest": (1.0, 2.0)}, "state: expected an array, got dict"),
    ],
)
def test_wrong_states(scan, state, told):
    with pytest.raises(InputError, match=re.escape(told)):
        scan(state, {"torque": np.zeros(3)}, {"friction": 0.1})
