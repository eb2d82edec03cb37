"""How the documentation site is built: `make docs`. It needs no network, neither to build nor to read."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]

import course_notebooks  # noqa: E402
import derivation_pages  # noqa: E402
import equation_index  # noqa: E402
import source_pages  # noqa: E402

import multibody  # noqa: E402

LONELY_STAR = re.compile(r"""(?<![^\s'"(\[{<-])\*(?=[^\s*])(?![^*]*[^\s*]\*(?![\w*]))""")

project = "multibody"
author = "The multibody authors"
version = release = multibody.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "mathml"]
exclude_patterns = ["_build"]
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

nb_execution_mode = "force"  # the course: with the library as it is, so its outputs are never stale
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_code_prompt_show = "Show the answer"
nb_code_prompt_hide = "Hide the answer"
nb_mime_priority_overrides = [("html", "text/latex", 15)]

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
html_search_scorer = str(HERE / "_ext" / "search_scorer.js")
WITHOUT_SEARCH = re.compile("changelog|decisions/")  # pages that have many words and answer few questions
WITHOUT_SIDEBAR = ("index", "equations", "errata")  # the first page leads everywhere; tables need the room
html_sidebars = {page: [] for page in WITHOUT_SIDEBAR}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "footer_end": [],
}


def write_equation_index(*_):
    (HERE / "equations.md").write_text(equation_index.render(equation_index.load()), encoding="utf-8")


def leave_out_of_search(_app, env):
    for page in filter(WITHOUT_SEARCH.match, env.found_docs):
        env.metadata[page]["no-search"] = True


def write_derivations(*_):
    derivation_pages.renew()


def escape(*arguments):
    """In docstrings |x| is a norm, not a substitution, and a star without a partner no beginning of emphasis."""
    lines = arguments[-1]
    escaped = [LONELY_STAR.sub(r"\\*", line.replace("|", r"\|")) for line in lines]
    kept = [line.lstrip().startswith((">>>", "...")) for line in lines]
    lines[:] = [old if same else new for old, new, same in zip(lines, escaped, kept, strict=True)]


def keep_together(_app, what, _name, _object, _options, lines):
    """An empty comment first: napoleon takes what is before a colon of an attribute's first line for its type."""
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]


def write_sources(app, exception):
    if exception is None:
        source_pages.write(equation_index.tagged(equation_index.load()), Path(app.outdir) / "sources")


def write_notebooks(app, exception):
    if exception is None:
        course_notebooks.write(Path(app.outdir) / "course")


def setup(app):
    app.connect("builder-inited", write_equation_index)
    app.connect("builder-inited", write_derivations)
    app.connect("env-updated", leave_out_of_search)
    app.connect("autodoc-process-docstring", keep_together, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", escape)
    app.connect("build-finished", write_sources)
    app.connect("build-finished", write_notebooks)
