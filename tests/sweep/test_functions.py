"""Kernels and simulators as functions of samples, and what tells one function from another."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest

import multibody as mb
from multibody import simulate, sweep
from multibody.errors import InputError
from multibody.sweep.chunks import Job
from multibody.sweep.cpu import cpu_class
from multibody.sweep.designs.random_streams import Draws
from multibody.sweep.identity import changes, digest_of, identity
from multibody.sweep.shipping import MAX_UNPACKED, pack, unpack


def angle(run):
    return run.q[..., -1, 0]


@pytest.fixture(scope="module")
def simulator():
    return simulate.Simulator(mb.load("double-pendulum"), dt=0.01, method="rk4")


def test_a_simulator_with_metrics(simulator, tmp_path):
    samples = sweep.uniform(40, q=(np.full(2, -1.0), np.full(2, 1.0)), gravity=([0, 0, -12.0], [0, 0, -8.0]))
    study = sweep.Study(simulator, samples, tmp_path / "a.zarr", chunk=15, seconds=0.2, metrics={"angle": angle})
    study.run()
    rows = samples[:]
    run = simulator(rows["q"], seconds=0.2, parameters={"gravity": rows["gravity"]})
    assert (np.asarray(study.results()["angle"]) == run.q[:, -1, 0]).all()
    worst = study.worst("angle")
    assert worst == run.q[:, -1, 0].argmax()
    assert study.worst("angle", largest=False) == run.q[:, -1, 0].argmin()
    again = study.replay(worst)
    assert (again.q == run.q[worst]).all()
    assert again.q.shape == (20, 2)
    other = simulate.Simulator(mb.load("double-pendulum"), dt=0.02, method="rk4")
    with pytest.raises(sweep.StudyChangedError, match=r"simulator\.step"):
        sweep.Study(other, samples, tmp_path / "a.zarr", seconds=0.2, metrics={"angle": angle}).run()
    with pytest.raises(InputError, match="metrics"):
        sweep.Study(simulator, samples, tmp_path / "b.zarr")


def damped(t, q, v, torque):
    del t, q
    return torque - 0.1 * v


def opposed(t, q, v, torque):
    del t, q, v
    return np.stack([torque[0], -torque[0]])


@pytest.mark.parametrize("chunk", [8, 10])
@pytest.mark.parametrize("shape", [(2,), (1, 2), (10, 2)])
def test_inputs_of_a_simulator(tmp_path, chunk, shape):
    """Ten steps: a chunk of ten samples is no time series. Each sample is that of a run by itself."""
    simulator = simulate.Simulator(mb.load("double-pendulum"), dt=0.01, method="rk4", controller=damped)
    inputs = np.random.default_rng(0).normal(size=(20, *shape))
    samples = {"q": np.linspace(-1.0, 1.0, 40).reshape(20, 2), "inputs": inputs}
    study = sweep.Study(
        simulator, samples, tmp_path / "a.zarr", chunk=chunk, seconds=0.1, metrics={"q": lambda run: run.q[..., -1, :]}
    )
    assert study.run().failed == 0
    runs = [simulator(samples["q"][k], seconds=0.1, inputs=inputs[k].reshape(-1, 2)) for k in range(20)]
    expected = np.stack([run.q[-1] for run in runs])
    assert np.abs(expected - simulator(samples["q"], seconds=0.1, inputs=np.zeros(2)).q[:, -1]).max() > 1e-3
    np.testing.assert_allclose(np.asarray(study.results()["q"]), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(study.replay(7).q[-1], expected[7], rtol=0, atol=1e-14)


@pytest.mark.parametrize("chunk", [1, 3])
def test_one_input_is_a_number_a_sample(tmp_path, chunk):
    """As many samples as joints in a chunk: no sample is given the inputs of its neighbours."""
    robot = mb.load("double-pendulum")
    simulator = simulate.Simulator(robot, dt=0.01, method="rk4", controller=opposed)
    samples = {"inputs": np.array([0.5, -1.0, 2.0])}
    study = sweep.Study(
        simulator, samples, tmp_path / "a.zarr", chunk=chunk, seconds=0.1, metrics={"q": lambda run: run.q[..., -1, :]}
    )
    study.run()
    expected = [simulator(robot.home(), seconds=0.1, inputs=samples["inputs"][k : k + 1]).q[-1] for k in range(3)]
    np.testing.assert_allclose(np.asarray(study.results()["q"]), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(study.replay(1).q[-1], expected[1], rtol=0, atol=1e-14)


@dataclass
class Law:
    """A callable with `==`, which has no hash."""

    gain: float

    def __call__(self, sample, rng):
        return {"y": self.gain * sample["x"] + rng.uniform()}


@pytest.mark.parametrize("executor", [None, "processes"])
def test_callables_with_equality(tmp_path, executor):
    study = sweep.Study(Law(2.0), {"x": np.arange(10.0)}, tmp_path / "a.zarr", chunk=5)
    assert study.run(executor).failed == 0
    expected = 2 * np.arange(10.0) + Draws(0, np.arange(10)).uniform()
    assert (study.results()["y"][:] == expected).all()
    with pytest.raises(sweep.StudyChangedError, match=r"Law\.gain"):
        sweep.Study(Law(3.0), {"x": np.arange(10.0)}, tmp_path / "a.zarr").run()


def test_a_kernel_in_other_processes(tmp_path):
    kernel = mb.compile(lambda x, y: {"sum": x + y, "product": x @ y}, 3, 3)
    samples = sweep.uniform(50, x=(np.zeros(3), np.ones(3)), y=(np.zeros(3), np.ones(3)))
    study = sweep.Study(kernel, samples, tmp_path / "a.zarr", chunk=20)
    study.run("processes", workers=1)
    rows = samples[:]
    expected = kernel(rows["x"], rows["y"])
    for name in ("sum", "product"):
        assert (np.asarray(study.results()[name]) == expected[name]).all()


def test_packed_studies_hold_code_and_are_rebuilt_for_other_processors(simulator, monkeypatch, tmp_path):
    kernel = mb.compile(lambda x: 2 * x + 1, ())
    simulator([0.1, 0.2], seconds=0.02)

    def function(sample):
        return {"y": kernel(sample["x"]), "q": simulator([0.1, 0.2], seconds=0.02).q[-1]}

    packed = pack(Job(function, None, 0, True, tmp_path), {}, None)
    same = unpack(packed).function
    assert same is not function
    sample = {"x": np.arange(3.0)}
    assert (same(sample)["y"] == function(sample)["y"]).all()
    real = mb.compiler.codegen.target.host()
    monkeypatch.setattr(mb.compiler.codegen.target, "host", lambda: real._replace(features=real.features + ",+other"))
    other = unpack(packed + b" ").function
    monkeypatch.undo()
    assert (other(sample)["y"] == function(sample)["y"]).all()
    assert (other(sample)["q"] == function(sample)["q"]).all()


def test_compiled_kernels_travel(tmp_path, monkeypatch):
    from multibody.compiler.cache import code_cache, disk_cache

    kernel = mb.compile(lambda x: 3 * x + 1.2345, ())
    kernel(np.arange(3.0))
    key = kernel._code.key
    packed = pack(Job(abs, None, 0, True, tmp_path), code_cache.entries(), cpu_class())
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path / "cache"))
    assert disk_cache.load(key) is None
    unpack(packed)
    assert disk_cache.load(key) == kernel._code.entry


def test_kernels_that_a_worker_has_are_left_alone(tmp_path, monkeypatch):
    """The sources are checked once, not for every kernel, and nothing is written again."""
    from multibody import _sources
    from multibody.compiler.cache import code_cache, disk_cache

    kernels = [mb.compile(lambda x, k=k: k + np.sin(4.321 * x), ()) for k in range(3)]
    for kernel in kernels:
        kernel(np.arange(3.0))
    packed = pack(Job(abs, None, 1, True, tmp_path), code_cache.entries(), cpu_class())
    unpack(packed)  # also where an earlier test has removed them from the disk
    other = pack(Job(abs, None, 2, True, tmp_path), code_cache.entries(), cpu_class())
    checks, written, match_disk = [], [], _sources.match_disk
    monkeypatch.setattr(_sources, "match_disk", lambda: checks.append(1) or match_disk())
    monkeypatch.setattr(disk_cache, "_write", lambda name, _: written.append(name))
    unpack(other)
    assert len(checks) == 1
    assert not written


def made(source, **scope):
    exec(source, scope)
    return scope["f"]


def test_comments_and_places_do_not_tell_functions_apart():
    first = made(
        "def f(s):\n    'Text.'\n    def g(x):\n        'Inner.'\n        return x\n    return {'y': g(s['x'])}"
    )
    second = made(
        "\n\n# more\ndef f(s):\n    'Other.'\n    def g(x):  # why\n        'New.'\n        return x\n"
        "    return {'y': g(s['x'])}"
    )
    assert identity(first) == identity(second)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(s): return {'y': s['x'] + 2}", "f"),
        ("def f(s, k=4): return {'y': s['x'] + 1}", "f defaults"),
        ("def f(s): return {'y': g(s['x'])}", "f"),
    ],
)
def test_code_and_defaults_do(source, name):
    before = made("def f(s, k=3): return {'y': s['x'] + 1}")
    assert name in changes(identity(before), identity(made(source, g=abs)))


def test_what_a_function_names_does():
    source = "def g(x): return x * gain[0]['k']\ndef f(s): return {'y': g(s['x'])}"
    base = identity(made(source, gain=[{"k": 1.0}]))
    assert changes(base, identity(made(source, gain=[{"k": 1.0}]))) == []
    assert changes(base, identity(made(source, gain=[{"k": 2.0}]))) == ["gain[0]['k']"]
    assert changes(base, identity(made(source.replace("x * ", "x / "), gain=[{"k": 1.0}]))) == ["g"]


def test_robots_kernels_and_objects_are_told_apart():
    class Law:
        def __init__(self, gain):
            self.gain = gain

        def __call__(self, sample):
            return {"y": self.gain * sample["x"]}

    robot, other = (
        mb.load("double-pendulum"),
        mb.load("double-pendulum").lock({mb.load("double-pendulum").joints[0].name: 0.1}),
    )

    def function(robot):
        return lambda sample: {"y": robot.gravity(sample["q"])}

    assert identity(function(robot)) == identity(function(mb.load("double-pendulum")))
    assert changes(identity(function(robot)), identity(function(other))) == ["robot"]
    assert identity(Law(1.0)) == identity(Law(1.0))
    assert changes(identity(Law(1.0)), identity(Law(2.0))) == ["Law.gain"]
    kernels = [mb.compile(lambda x, k=k: k * x, ()) for k in (1.5, 2.5)]
    assert digest_of(kernels[0]) != digest_of(kernels[1])
    assert digest_of(kernels[0]) == digest_of(mb.compile(lambda y: 1.5 * y, (), names=["x"]))


def test_objects_that_cannot_be_told_apart_are_named():
    """An object of another library that does not pickle, as a database's connection."""
    gate = threading.Lock()

    def function(sample):
        with gate:
            return {"y": sample["x"]}

    with pytest.warns(sweep.SweepWarning, match=r"gate: a _thread\.lock cannot be pickled .* whether it changes"):
        identity(function)


def test_a_worker_keeps_the_last_few_studies(tmp_path):
    """So that a study is restored once, not for every chunk, and a worker of many studies does not grow."""
    packed = [pack(Job(abs, None, seed, True, tmp_path), {}, None) for seed in range(2 * MAX_UNPACKED)]
    jobs = [unpack(each) for each in packed]
    assert [job.seed for job in jobs] == list(range(2 * MAX_UNPACKED))
    assert all(unpack(each) is job for each, job in zip(packed[-MAX_UNPACKED:], jobs[-MAX_UNPACKED:], strict=True))
    assert unpack(packed[0]) is not jobs[0]
