"""Functions that tests study: here, so that other processes find them by value alone."""

import os
import time

import numpy as np

GAIN = 3.0


def plain(sample, rng):
    """Element by element, with random numbers."""
    return {"y": GAIN * sample["x"] + rng.normal(), "z": rng.uniform(0.0, 1.0, 3), "n": (sample["x"] > 0.5)}


def nasty(sample):
    """Right but for a few samples, each wrong in its own way."""
    x = sample["x"]
    if (x == 7).any():
        raise ValueError("seven")
    if (x == 9).any():
        return {"y": np.zeros((len(x), 2))}
    if (x == 11).any():
        return {"y": np.zeros(len(x), np.float32)}
    if (x == 15).any():
        raise SystemExit(1)
    if (x == 16).any():
        return {"other": x}
    return {"y": np.where(x == 13, np.nan, 2 * x)}


EXPECTED = {7: "raised", 9: "shape", 11: "dtype", 13: "nan", 15: "raised", 16: "shape"}


def deadly(sample):
    """As `nasty`, and one that kills its process, one that hangs, one that eats memory."""
    x = sample["x"]
    if (x == 3).any():
        os._exit(3)
    if (x == 21).any():
        time.sleep(1000)
    if (x == 35).any():
        np.ones(10**9)
    return nasty(sample)


def product(sample):
    """Matrix products, which depend on their neighbours."""
    return {"y": np.exp(sample["x"]) / np.sum(sample["x"])}
