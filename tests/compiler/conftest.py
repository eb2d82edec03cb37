"""What tests of the cache share: an empty one."""

import pytest

from multibody.compiler.cache import code_cache, disk_cache
from multibody.compiler.config import config


class Forgetful(dict):
    """In place of the code that lives in this process, so that all comes from the disk."""

    def setdefault(self, key, default=None):
        del key
        return default


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty cache on disk, which is trusted; the code that lives in this process is not used."""
    monkeypatch.setenv("MULTIBODY_CACHE_MODE", "on")
    monkeypatch.setattr(config, "verify", False)
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(code_cache, "_alive", Forgetful())
    disk_cache._warn.cache_clear()
    return tmp_path / "kernels"
