"""Long lists of cases: by default a few run, as samples of their kind; `make test-all` runs all."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], every: int = 3) -> list[Any]:
    """The cases, all but each third of which, or whatever `every` says, are marked slow."""
    return [case if k % every == 0 else pytest.param(case, marks=pytest.mark.slow) for k, case in enumerate(cases)]
