"""Kernels of tests are kept in a directory of their own, never in the user's cache."""

import pytest

from multibody.compiler import cache, sharing
from multibody.compiler.config import config


@pytest.fixture(autouse=True, scope="session")
def _cache_of_tests(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield


class Forgetful(dict):
    """In place of the code that lives in this process, so that all comes from the disk."""

    def setdefault(self, key, default=None):
        del key
        return default


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty cache on disk, which is trusted; the code that lives in this process is not used."""
    monkeypatch.setenv("MULTIBODY_CACHE", "on")
    monkeypatch.setattr(config, "verify", False)
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(sharing, "_alive", Forgetful())
    cache._warn.cache_clear()
    return tmp_path / "kernels"
