"""What all tests share: the profiles of hypothesis, one thread for linear algebra, and kernels of this run alone.

"multibody" is the profile that runs; it draws the same examples every time. "all", of `make test-all`, draws three
times as many, and `pytest --hypothesis-profile=thorough` many new ones.
"""

import gc
import os
import signal
from tempfile import TemporaryDirectory

# Before NumPy is loaded. Our matrices are small: threads do not help, and workers that share the cores wait for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests of quick code switch this off: the others compile once.
os.environ.setdefault("MULTIBODY_WAIT", "1")
# Other processes that tests start import the library as its users do: from byte code that the first one leaves.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest
from hypothesis import HealthCheck, settings

SLOW_TIMEOUT = 1800
"""Seconds for a test marked slow; pyproject.toml has the limit of the others."""

settings.register_profile(
    "multibody",
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("all", settings.get_profile("multibody"), max_examples=25)
settings.register_profile("thorough", settings.get_profile("multibody"), max_examples=1000, derandomize=False)
settings.load_profile("multibody")


def pytest_configure(config: pytest.Config) -> None:
    """Keep kernels in an empty directory that all workers share, never in the user's cache, and hear interrupts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a run in the background would ignore
    if "PYTEST_XDIST_WORKER" not in os.environ:
        kernels = TemporaryDirectory(prefix="multibody-tests-", ignore_cleanup_errors=True)
        config.add_cleanup(kernels.cleanup)
        os.environ["MULTIBODY_CACHE_DIR"] = kernels.name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests three times the time limit of the others."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT))


def pytest_collection_finish() -> None:
    """Spare the garbage collector the tests themselves, which live to the end."""
    gc.freeze()
