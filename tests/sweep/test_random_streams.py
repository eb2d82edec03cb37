"""Random numbers of samples: NumPy's Philox bit for bit, independent of chunks, and distributed as they should be."""

import time

import numpy as np
import pytest
from scipy import stats

from multibody.errors import InputError
from multibody.sweep.designs import random_streams

rng = np.random.default_rng(1)


@pytest.mark.parametrize("index", [0, 1, 2**40, 2**63 - 1])
@pytest.mark.parametrize("block", [0, 3])
def test_a_sample_has_the_words_of_numpy_s_philox_at_its_counter(index, block):
    counter = np.array([index, block, random_streams.FUNCTION, 0], np.uint64)
    generator = np.random.Philox(key=77, counter=counter)
    generator.advance(-1)  # NumPy counts before it computes
    assert (random_streams.words(77, np.array([index]), 4, block)[0] == generator.random_raw(4)).all()


def test_rows_depend_on_their_index_alone():
    index = rng.integers(0, 10**12, 50)
    index[10:20] = index[10] + np.arange(10)
    whole = random_streams.words(5, index, 7)
    for k in (0, 12, 49):
        assert (random_streams.words(5, index[k : k + 1], 7)[0] == whole[k]).all()
    assert (random_streams.words(5, index[::-1], 7)[::-1] == whole).all()
    assert (random_streams.words(6, index, 7) != whole).all()
    assert (random_streams.words(5, index, 7, purpose=random_streams.DESIGN) != whole).all()


def test_draws_follow_each_other_without_overlap():
    index = np.arange(100)
    numbers = random_streams.Draws(0, index)
    first, second, third = numbers.uniform(0, 1, 3), numbers.uniform(0, 1, (2, 2)), numbers.uniform()
    assert first.shape == (100, 3)
    assert second.shape == (100, 2, 2)
    assert third.shape == (100,)
    every = np.concatenate([first.ravel(), second.ravel(), third])
    assert len(np.unique(every)) == every.size


def test_numbers_have_their_distributions():
    numbers = random_streams.Draws(3, np.arange(20_000))
    assert stats.kstest(numbers.uniform(2.0, 5.0, 2).ravel(), stats.uniform(2.0, 3.0).cdf).pvalue > 1e-3
    normal = numbers.normal((2,), mean=[1.0, -1.0], deviation=2.0)
    assert stats.kstest(normal[:, 1], stats.norm(-1.0, 2.0).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(normal.T)[0, 1]) < 0.03
    assert abs(np.corrcoef(normal[:-1, 0], normal[1:, 0])[0, 1]) < 0.03  # neighbours
    integers = numbers.integers(-2, 5, 3)
    assert stats.chisquare(np.bincount(integers.ravel() + 2, minlength=7)).pvalue > 1e-3


def test_extreme_words_stay_within():
    words = np.array([0, 2**64 - 1], np.uint64)
    assert (random_streams.unit(words) >= 0).all()
    assert random_streams.unit(words)[1] < 1.0
    assert np.isfinite(random_streams.gaussian(random_streams.inside(words))).all()


def test_a_number_takes_less_than_the_promised_time():
    numbers = random_streams.Draws(0, np.arange(100_000))
    taken = []
    for _ in range(3):
        before = time.process_time()
        numbers.uniform(0.0, 1.0, 4)
        taken.append(time.process_time() - before)
    assert min(taken) / 4e5 < 100e-9


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, "a", True])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(InputError, match="seed"):
        random_streams.check_seed(seed)


def test_bad_ranges_are_refused():
    with pytest.raises(InputError, match="integers"):
        random_streams.Draws(0, np.arange(2)).integers(3, 3)
