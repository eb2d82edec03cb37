"""Kernels of tests are kept in a directory of their own, never in the user's cache."""

from ..compiler.conftest import _cache_of_tests  # noqa: F401
