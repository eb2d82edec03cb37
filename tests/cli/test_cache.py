"""`multibody cache`: what is on disk, and how it is removed."""

import os
import time

import pytest

import multibody as mb
from multibody.compiler.cache import disk_cache
from multibody.compiler.runtime.code import Entry

from .running import run, widest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with two entries, of which one was not used for ten days."""
    place = tmp_path / "kernels"
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(place))
    monkeypatch.setattr(mb.config, "cache", True)
    for key in ("first", "second"):
        disk_cache.store(key, Entry({}, {"kernel": [b"code"]}, {}))
    os.utime(place / "first", (time.time() - 10 * 86400,) * 2)
    return place


def test_show(folder):
    done = run("cache", columns=300)
    assert done.code == 0
    assert str(folder) in done.out
    assert ["entries", "2"] in [line.split() for line in done.out.splitlines()]
    assert "2.0 GiB (MULTIBODY_CACHE_SIZE)" in done.out
    assert widest(run("cache").out) <= 80


def test_clear(folder):
    done = run("cache", "--clear", "--older-than", "5", columns=300)
    assert done.code == 0
    assert done.out.startswith("Removed 1 files, ")
    assert len(list(folder.iterdir())) == 1
    assert run("cache", "--clear").code == 0
    assert list(folder.iterdir()) == []
    assert "0 bytes" in run("cache").out


def test_what_is_refused(folder, monkeypatch):
    del folder
    done = run("cache", "--older-than", "5")
    assert done.code == 1
    assert "--older-than: expected together with --clear" in done.err
    monkeypatch.setattr("multibody.compiler.cache.disk_cache.directory", lambda: None)
    assert "Set MULTIBODY_CACHE_DIR" in run("cache", columns=200).err
