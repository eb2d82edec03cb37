"""Results in a store are indexed as arrays of NumPy are: the same values, shapes and refusals."""

import numpy as np
import pytest

from multibody import sweep
from multibody.errors import InputError

N = 10
INDICES = [
    3,
    -1,
    np.int64(-N),
    slice(None),
    slice(7, 2, -2),
    slice(20, None),
    [],
    [1, -1, 1],
    [[0, 9], [-10, 4]],
    np.array(2),
    np.arange(N) % 3 == 0,
    np.zeros(N, bool),
    ...,
    None,
    True,
    (),
    (4, 1),
    (slice(2, 8), [0, 2]),
    ([0, 5], [1, 2]),
    ([[0], [5]], [1, 2]),
    (np.arange(N) > 7, 1),
    (2, ..., None),
    (..., 0),
    np.arange(3 * N).reshape(N, 3) % 2 == 0,
]
REFUSED = [N, -N - 1, [0, N], [-N - 1], np.ones(2, bool), np.ones((N, 2), bool), 1.5, "y", (0, 3), (0, 0, 0), [0.5]]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    def function(sample):
        k = sample["k"]
        return {"y": np.stack([k, 10 * k, -k], axis=1), "R": k[:, None, None] + np.arange(4).reshape(2, 2), "s": 2 * k}

    samples = {"k": np.arange(N), "p": np.arange(2.0 * N).reshape(N, 2)}
    made = sweep.Study(function, samples, tmp_path_factory.mktemp("results") / "a.zarr", chunk=4)
    made.run()
    return made


@pytest.mark.parametrize("key", INDICES, ids=repr)
def test_indexing(study, key):
    y = study.results()["y"]
    expected = np.stack([np.arange(N), 10 * np.arange(N), -np.arange(N)], axis=1)[key]
    got = y[key]
    assert np.shape(got) == expected.shape
    assert np.array_equal(got, expected)
    assert np.asarray(got).dtype == expected.dtype


def random_part(rng, size, lengths):
    """An index of one axis: a number, a slice, or indices that broadcast with those of other axes."""
    kind = rng.integers(4)
    if kind == 0:
        return int(rng.integers(-size, size))
    if kind == 1:
        ends = [None if rng.random() < 0.3 else int(rng.integers(-2 * size, 2 * size)) for _ in range(2)]
        return slice(*ends, int(rng.choice([-3, -1, 1, 2])))
    index = rng.integers(-size, size, lengths[: rng.integers(1, 3)][::-1])
    return index.tolist() if kind == 2 else index


def test_random_indices(study):
    """Numbers, slices and arrays in any mixture of the three axes, which zarr's own indexing takes in part only."""
    rng = np.random.default_rng(0)
    stored = study.results()["R"]
    expected = np.arange(N)[:, None, None] + np.arange(4).reshape(2, 2)
    for _ in range(300):
        lengths = rng.integers(1, 4, 2).tolist()
        key = tuple(random_part(rng, size, lengths) for size in expected.shape[: rng.integers(1, 4)])
        assert np.shape(stored[key]) == expected[key].shape, key
        assert np.array_equal(stored[key], expected[key]), key


@pytest.mark.parametrize("key", REFUSED, ids=repr)
@pytest.mark.parametrize("partial", [True, False])
def test_refusals(study, key, partial):
    with pytest.raises(IndexError):
        np.zeros((N, 3))[key]
    with pytest.raises(IndexError):
        study.results(partial)["y"][key]


def test_only_touched_chunks_are_read(study):
    file = study.path / "results" / "y" / "c.2.0"
    data = file.read_bytes()
    file.unlink()
    try:
        assert study.results()["y"][[7, 0], 1].tolist() == [70, 0]
        with pytest.raises(sweep.StoreError, match="damaged"):
            study.results()["y"][[7, 8]]
    finally:
        file.write_bytes(data)


def test_table(study):
    table = study.table()
    names = "index k p[0] p[1] y[0] y[1] y[2] R[0][0] R[0][1] R[1][0] R[1][1] s failed"
    assert " ".join(table.dtype.names) == names
    assert table["p[1]"].tolist() == (2 * np.arange(N) + 1.0).tolist()
    assert table["y[1]"].tolist() == (10 * np.arange(N)).tolist()
    assert table["R[1][0]"].tolist() == (np.arange(N) + 2).tolist()
    assert not table["failed"].any()


@pytest.mark.parametrize("name", ["k", "failed"])
def test_a_table_has_no_name_twice(tmp_path, name):
    study = sweep.Study(lambda sample: {name: sample["k"]}, {"k": np.arange(3)}, tmp_path / "a.zarr")
    study.run()
    with pytest.raises(InputError, match=f"'{name}' is the name of two columns"):
        study.table()
