"""Names that the examples in docstrings may use: `mb`, `np` and a small robot."""

from typing import Any

import numpy as np
import pytest

import multibody as mb


@pytest.fixture(autouse=True, scope="session")
def _names_of_examples(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace |= {"mb": mb, "np": np, "robot": mb.load("double-pendulum")}
