"""Pictures of studies show the numbers that are in the store."""

import numpy as np
import pytest

from multibody import sweep
from multibody.errors import InputError


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    def function(sample):
        bad = sample["a"] + sample["b"][:, 1] == 5.0
        series = sample["a"][:, None] * np.arange(4)
        return {"y": np.where(bad, np.nan, sample["a"] * sample["b"][:, 1]), "series": series, "n": sample["a"] > 1}

    samples = sweep.grid(a=[0.0, 1.0, 2.0], b=np.stack([np.zeros(4), np.arange(4.0)], axis=1), units={"a": "m"})
    made = sweep.Study(function, samples, tmp_path_factory.mktemp("plots") / "a.zarr", chunk=5)
    with pytest.warns(sweep.SweepWarning, match="1 of 12"):
        made.run()
    return made


def test_points_are_those_that_did_not_fail(study, tmp_path):
    figure = study.plot("a", "y", "b[1]", tmp_path / "a.png")
    drawn = figure.axes[0].collections[0]
    a, b = np.repeat([0.0, 1.0, 2.0], 4)[:-1], np.tile(np.arange(4.0), 3)[:-1]
    assert np.array_equal(drawn.get_offsets(), np.stack([a, a * b], axis=1))
    assert np.array_equal(drawn.get_array(), b)
    assert figure.axes[0].get_xlabel() == "a [m]"
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_a_map_has_the_means_of_its_cells(study):
    mesh = study.map("a", "b[1]", "y").axes[0].collections[0]
    means = np.ma.filled(mesh.get_array(), np.nan).reshape(4, 3)
    expected = np.outer(np.arange(4.0), [0.0, 1.0, 2.0])
    expected[3, 2] = np.nan
    assert np.array_equal(means, expected, equal_nan=True)


def test_histograms_count_every_sample(study):
    figure = study.histogram()
    assert [axes.get_xlabel() for axes in figure.axes] == ["y", "n"]
    assert all(sum(bar.get_height() for bar in axes.patches) == 11 for axes in figure.axes)


def test_bands_are_quantiles(study):
    axes = study.bands("series").axes[0]
    a = np.repeat([0.0, 1.0, 2.0], 4)[:-1]
    assert np.allclose(axes.lines[0].get_ydata(), np.median(a) * np.arange(4))
    top = axes.collections[0].get_paths()[0].vertices[:, 1].max()
    assert np.isclose(top, 3 * np.quantile(a, 0.95))


def test_parallel_coordinates_have_a_line_for_each_sample(study):
    lines = study.parallel("a", "b[1]", "y").axes[0].lines
    assert len(lines) == 11
    assert np.allclose(lines[5].get_ydata(), [0.5, 1 / 3, 0.25])


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda study: study.plot("a", "c"), "expected one of a, b, y"),
        (lambda study: study.plot("a", "b"), r"write b\[0\]"),
        (lambda study: study.bands("y"), "times"),
        (lambda study: study.parallel("a"), "two names"),
        (lambda study: study.plot("a", "y", path="/nowhere/a.png"), "directory that is there"),
        (lambda study: study.worst("series"), "one real number"),
    ],
)
def test_bad_names_are_refused(study, make, word):
    with pytest.raises(InputError, match=word):
        make(study)


def test_of_many_samples_evenly_spread_chunks_are_drawn(study):
    from multibody.sweep.selection import select

    few = select(study.record, limit=5)
    assert few.index.tolist() == [0, 1, 2, 3, 4]
    assert few.title == "a.zarr: 5 of 12 samples"
