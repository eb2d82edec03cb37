"""Names of symbols in LaTeX: x_dot is x with a dot, theta a Greek letter, m1 and omega_x have an index."""

import re

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
GREEK = dict(zip(_GREEK.split(), "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True))
_STEM = re.compile(r"([A-Za-z]+?)(\d*)")
_AXES = re.compile(r"([A-Za-z])([xyz]{1,2})")


def latex_name(name: str) -> str:
    r"""The name of a symbol, in LaTeX.

    >>> [latex_name(name) for name in ("x_dot", "theta1_ddot", "omega_x", "m1", "Ixx", "hip_dot")]
    ['\\dot{x}', '\\ddot{\\theta}_{1}', '\\omega_{x}', 'm_{1}', 'I_{xx}', '\\dot{\\mathrm{hip}}']
    """
    accent, stem = "", name
    for suffix, command in (("_ddot", r"\ddot"), ("_dot", r"\dot")):
        if name.endswith(suffix):
            accent, stem = command, name.removesuffix(suffix)
            break
    first, *rest = [part for part in re.split(r"[_{},]+", stem) if part] or [stem]
    match = _STEM.fullmatch(first)
    word, digits = match.groups() if match else (first, "")
    axes = _AXES.fullmatch(word)
    if word not in GREEK and axes:
        word, digits = axes[1], axes[2] + digits
    base = letters(word)
    base = f"{accent}{{{base}}}" if accent else base
    indices = [index(part) for part in (digits, *rest) if part]
    return f"{base}_{{{','.join(indices)}}}" if indices else base


def letters(word: str) -> str:
    """A word as one letter: Greek, a single letter as it is, others upright."""
    if word in GREEK:
        return f"\\{word}"
    if len(word) == 1:
        return word
    return f"\\mathrm{{{word}}}" if word.isalnum() else f"\\text{{{escape(word)}}}"


def index(part: str) -> str:
    """An index: numbers, axes, and a letter with a number as they are."""
    return part if re.fullmatch(r"\d+|[xyz]{1,2}\d*|[A-Za-z]\d*", part) else letters(part)


def escape(text: str) -> str:
    """Text as LaTeX shows it."""
    return re.sub(r"([%#&_$])", r"\\\1", text)
