"""Polynomials and split constants, constant term and leading part first; tools/minimax.py writes coefficients.json."""

import json
from importlib import resources

_TABLES: dict[str, dict[str, list[float]]] = json.loads(
    resources.files("multibody.compiler.codegen.vector_math").joinpath("coefficients.json").read_text(encoding="utf-8")
)
SINE = _TABLES["SINE"]
COSINE = _TABLES["COSINE"]
ARCSINE = _TABLES["ARCSINE"]
ARCTANGENT = _TABLES["ARCTANGENT"]
EXPONENTIAL = _TABLES["EXPONENTIAL"]
LOGARITHM = _TABLES["LOGARITHM"]
HALF_PI = _TABLES["HALF_PI"]
HALF_PI_SHORT = _TABLES["HALF_PI_SHORT"]
LOG_2 = _TABLES["LOG_2"]
