"""Samples: grids, random numbers, Sobol points, Latin hypercubes, arrays and functions; any part at any index."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from multibody import sweep
from multibody.errors import InputError
from multibody.sweep.designs import from_plain
from multibody.sweep.designs.permutation import permute

BOUNDS = {"kp": (1, 100), "q": (np.zeros(3), np.array([1.0, 2.0, 3.0]))}
DESIGNS = {
    "grid": sweep.grid(a=[1.0, 2.0], b=np.eye(3), c=[1, 2, 3, 4]),
    "uniform": sweep.uniform(1000, **BOUNDS),
    "normal": sweep.normal(1000, seed=4, **BOUNDS),
    "sobol": sweep.sobol(1024, **BOUNDS),
    "latin_hypercube": sweep.latin_hypercube(1000, units={"kp": "N m/rad"}, **BOUNDS),
    "mapping": sweep.mapping({"x": np.arange(10.0), "n": np.arange(10)}),
    "indexed": sweep.indexed(10**9, lambda index: {"x": np.sqrt(index)}),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_row_depends_on_its_index_alone(name):
    samples = DESIGNS[name]
    index = np.array([3, 1, samples.n - 1, 3])
    rows = samples[index]
    for k, i in enumerate(index):
        for key, x in samples[int(i)].items():
            assert (x == rows[key][k]).all()
    part = samples[2:6]
    assert all((part[key][1] == rows[key][0]).all() for key in part)


@pytest.mark.parametrize("name", [name for name in DESIGNS if name not in ("mapping", "indexed")])
def test_plain_data_tells_a_design(name):
    samples = DESIGNS[name]
    again = from_plain(json.loads(json.dumps(samples.plain())))
    assert type(again) is type(samples)
    assert again.units == samples.units
    assert again.bounds == samples.bounds
    for key, x in again[:].items():
        assert x.tobytes() == samples[:][key].tobytes()


def test_a_grid_has_every_combination_once():
    rows = DESIGNS["grid"][:]
    expected = [(a, b, c) for a in (1.0, 2.0) for b in range(3) for c in (1, 2, 3, 4)]
    assert [(a, int(b.argmax()), c) for a, b, c in zip(*rows.values(), strict=True)] == expected


def test_uniform_and_normal_numbers_have_their_distributions():
    uniform, normal = sweep.uniform(20_000, **BOUNDS)[:], sweep.normal(20_000, **BOUNDS)[:]
    assert stats.kstest(uniform["kp"], stats.uniform(1, 99).cdf).pvalue > 1e-3
    assert stats.kstest(uniform["q"][:, 2], stats.uniform(0, 3).cdf).pvalue > 1e-3
    assert stats.kstest(normal["q"][:, 2], stats.norm(0, 3).cdf).pvalue > 1e-3
    assert not np.isclose(uniform["kp"][0], sweep.uniform(20_000, seed=1, **BOUNDS)[0]["kp"])


def test_sobol_points_are_scipy_s():
    engine = qmc.Sobol(4, scramble=True, bits=53, rng=np.random.default_rng(7))
    points = engine.random(512)
    rows = sweep.sobol(512, seed=7, **BOUNDS)[:]
    assert (rows["kp"] == 1 + 99 * points[:, 0]).all()
    assert (rows["q"] == points[:, 1:] * [1.0, 2.0, 3.0]).all()
    far = sweep.sobol(2**52, seed=7, x=(0, 1))[np.array([2**51, 2**51 + 1])]["x"]
    assert ((far >= 0) & (far < 1)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 64, 1000, 4097])
def test_a_latin_hypercube_has_one_sample_in_each_interval(n):
    points = sweep.latin_hypercube(n, x=(0, 1), y=(np.zeros(2), np.ones(2)))[:]
    every = np.column_stack([points["x"], points["y"]])
    for column in every.T:
        assert sorted((column * n).astype(int).tolist()) == list(range(n))


def test_a_latin_hypercube_is_as_even_as_scipy_s():
    ours = np.column_stack(list(sweep.latin_hypercube(512, x=(0, 1), y=(0, 1))[:].values()))
    theirs = [qmc.discrepancy(qmc.LatinHypercube(2, rng=k).random(512)) for k in range(20)]
    assert qmc.discrepancy(ours) < 2 * max(theirs)


def test_permutations_are_no_pattern():
    n = 5000
    first, second = (permute(np.arange(n), n, 0, k) for k in (0, 1))
    assert abs(stats.spearmanr(first, np.arange(n)).statistic) < 0.06
    assert abs(stats.spearmanr(first, second).statistic) < 0.06
    assert abs(stats.spearmanr(first[:-1], first[1:]).statistic) < 0.06


def test_arrays_are_kept_as_they_were():
    x = np.arange(5.0)
    samples = sweep.mapping({"x": x})
    x[0] = 9.0
    assert samples[0]["x"] == 0.0


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: sweep.grid(), "grid"),
        (lambda: sweep.grid(a=[]), "grid"),
        (lambda: sweep.uniform(0, a=(0, 1)), "number"),
        (lambda: sweep.uniform(10, a=(1, 0)), "low <= high"),
        (lambda: sweep.uniform(10, a=3), "low, high"),
        (lambda: sweep.uniform(10, a=(0, np.inf)), "finite"),
        (lambda: sweep.uniform(10), "at least one"),
        (lambda: sweep.normal(10, a=(0, -1)), "deviation that is not negative"),
        (lambda: sweep.uniform(10, a=(0, 1), units={"b": "m"}), "units"),
        (lambda: sweep.mapping({"a": [1, 2], "b": [1]}), "2 rows"),
        (lambda: sweep.mapping({"a": ["x"]}), "numbers"),
        (lambda: sweep.mapping({"not a name": [1]}), "names"),
        (lambda: sweep.uniform(10, a=(0, 1))[10], "indices from 0 to 9"),
        (lambda: sweep.Study(lambda sample: sample, 3, "a.zarr"), "samples"),
    ],
)
def test_bad_samples_are_refused(make, word):
    with pytest.raises(InputError, match=word):
        make()
