"""How the documentation site is built: `make docs`. It needs no network, neither to build nor to read."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]

import derivation_pages  # noqa: E402
import equation_index  # noqa: E402

import multibody  # noqa: E402

project = "multibody"
author = "The multibody authors"
version = release = multibody.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "mathml"]
exclude_patterns = ["_build"]
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give shapes, which the types cannot
napoleon_numpy_docstring = False
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"multibody {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
WITHOUT_SIDEBAR = (
    "urdf-to-torque",
    "which-jacobian",
    "projected-newton-euler",
    "geometry",
    "loading-robots",
    "dynamics",
    "robots",
    "robots-embedded",
    "compile",
    "notation",
    "equations",
    "errata",
    "how-the-compiler-works",
    "contributing",
    "changelog",
)
html_sidebars = {page: [] for page in WITHOUT_SIDEBAR}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "footer_end": [],
}


def write_equation_index(*_):
    (HERE / "equations.md").write_text(equation_index.render(equation_index.load()), encoding="utf-8")


def write_derivations(*_):
    derivation_pages.write()


def escape_bars(*arguments):
    """In docstrings |x| is a norm, not a substitution."""
    lines = arguments[-1]
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|") for line in lines]


def setup(app):
    app.connect("builder-inited", write_equation_index)
    app.connect("builder-inited", write_derivations)
    app.connect("autodoc-process-docstring", escape_bars)
