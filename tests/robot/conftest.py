"""Kernels of tests are kept in a directory of their own, never in the user's cache."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _cache_of_tests(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield
