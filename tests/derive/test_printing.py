"""Equations to read: names, expressions, text, MathML, and pages of a derivation."""

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sympy as sp

from multibody import derive
from multibody.derive.printing import latex_parser
from multibody.derive.printing.html_document import FORMULAS
from multibody.derive.printing.latex_expressions import Writer, decimals, joined
from multibody.derive.printing.line_breaks import Layout
from multibody.derive.printing.mathml import mathml
from multibody.derive.printing.output_formats import lines, wrapped
from multibody.derive.printing.page_elements import Equality, Heading, Sentence
from multibody.derive.printing.symbol_names import latex_name
from multibody.derive.printing.unicode_text import text, width

x, theta = derive.coordinates("x theta")
q1, q2, q12 = derive.coordinates("q1 q_2 q12")
m, l, k = derive.symbols("m l k")


def cart_pendulum() -> derive.System:
    M, g, F, inertia = derive.symbols("M g F I")
    R = derive.rotation_y(-theta)
    hinge = sp.Matrix([x, 0, 0])
    return derive.System(
        "cart-pendulum",
        (x, theta),
        (
            derive.Body("cart", M, hinge),
            derive.Body("pole", m, hinge + R * sp.Matrix([0, 0, -l]), R, sp.diag(0, inertia, 0), "cart", hinge),
        ),
        gravity=(0, 0, -g),
        loads=(derive.Spring(k, x), derive.Force("cart", (F, 0, 0))),
    )


def skate() -> derive.System:
    """With a motion constraint and velocities of its own."""
    y, mass, inertia = derive.symbols("y m I")
    v_x, v_y, omega = derive.symbols("v_x v_y omega")
    R = derive.rotation_z(theta)
    return derive.System(
        "skate",
        (x, y, theta),
        (derive.Body("skate", mass, (x, y, 0), R, sp.diag(0, 0, inertia)),),
        (v_x, v_y, omega),
        R,
        restrictions=(derive.Motion("no side-slip", v_y),),
    )


@pytest.fixture(scope="module")
def equations() -> derive.Equations:
    return derive.equations(cart_pendulum(), "lagrange")


# Names


@pytest.mark.parametrize(
    ("name", "latex", "unicode"),
    [
        ("x_dot", r"\dot{x}", "ẋ"),
        ("x_ddot", r"\ddot{x}", "ẍ"),
        ("theta", r"\theta", "θ"),
        ("theta1_dot", r"\dot{\theta}_{1}", "θ̇₁"),
        ("q_12_ddot", r"\ddot{q}_{12}", "q̈₁₂"),
        ("omega_x", r"\omega_{x}", "ω_x"),
        ("lambda_1", r"\lambda_{1}", "λ₁"),
        ("m1", "m_{1}", "m₁"),
        ("Ixx", "I_{xx}", "I_xx"),
        ("I_xx2", "I_{xx2}", "I_xx2"),
        ("l_c1", "l_{c1}", "l_c1"),
        ("hip_dot", r"\dot{\mathrm{hip}}", "hip′"),
        ("hip_knee", r"\mathrm{hip}_{\mathrm{knee}}", "hip_knee"),
        ("F_{link1,x}", r"F_{\mathrm{link1},x}", "F_(link1,x)"),
        ("F_{left-hip,x}", r"F_{\text{left-hip},x}", "F_(left-hip,x)"),
        ("Theta_S", r"\Theta_{S}", "Θ_S"),
    ],
)
def test_names(name: str, latex: str, unicode: str) -> None:
    assert latex_name(name) == latex
    assert text(latex) == unicode


# Expressions


def test_rational_numbers_from_decimals_are_decimals() -> None:
    assert text(Writer()(sp.Rational(333, 1000) * m - l / 3 + k / 2)) == "k/2 - l/3 + 0.333 m"
    assert text(Writer()(sp.Rational(-981, 100) * m)) == "-9.81 m"
    assert decimals(sp.Rational(1, 7)) == sp.Rational(1, 7)
    assert text(Writer()(sp.Rational(1346885858000000211, 179 * 10**18) * m)) == "0.007524502 m"
    assert text(Writer()(sp.sqrt(m))) == "√m"


@pytest.mark.parametrize(
    ("angle", "written"),
    [
        (q1, "c₁"),
        (q1 + q2, "c₁₂"),
        (q1 - q2, "c_(1-2)"),
        (q1 + q12, "c_(1,12)"),
        (theta, "c_θ"),
        (theta + x, "c_(θ+x)"),
        (2 * q1, "cos(2 q₁)"),
    ],
)
def test_short_cosines(angle: sp.Expr, written: str) -> None:
    assert text(Writer(short=True)(sp.cos(angle))) == written
    assert text(Writer()(sp.cos(angle))).startswith("cos(")


@pytest.mark.parametrize(
    ("taken", "written"),
    [({"c", "m_1"}, "c₁ s₁"), ({"c_2"}, "C₁ S₁"), ({"s1"}, "C₁ S₁"), ({"c_2", "S_1"}, "cos(q₁) sin(q₁)")],
)
def test_short_cosines_are_no_symbols_of_the_system(taken: set[str], written: str) -> None:
    latex = Writer(short=True, taken=frozenset(taken))(sp.Mul(sp.cos(q1), sp.sin(q1), evaluate=False))
    assert sorted(text(latex).split()) == sorted(written.split())


def test_short_equations_of_an_arm_with_centres_c() -> None:
    arm = derive.equations(derive.systems.system("planar-3r"))
    assert "M₂₃(q) = I₃ + c₃² m₃ + c₃ l₂ m₃ C₃" in arm.unicode(short=True)


def test_terms_carry_their_signs_and_join_to_the_same_sum() -> None:
    expression = -m * x + l * x**2 - 3
    terms = Writer().terms(expression)
    assert sorted(term[0] for term in terms) == ["+", "-", "-"]
    assert text(joined(terms)) == text(Writer()(expression))
    assert Writer().terms(0) == []
    assert joined([]) == "0"


# Text


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (
            r"\frac{d}{dt}\frac{\partial T}{\partial \dot q} - \frac{\partial T}{\partial q} = \tau",
            "d/dt ∂T/∂q̇ - ∂T/∂q = τ",
        ),
        (r"d \cos(q) + d_{4} m_{3} + \frac{1}{d m}", "d cos(q) + d₄ m₃ + 1/(d m)"),
        (r"M = \frac{\partial^2 T}{\partial \dot q^2}", "M = ∂²T/∂q̇²"),
        (r"g = -\sum J_S^T F_g", "g = -∑ J_Sᵀ F_g"),
        (r"\frac{m \left(a + b\right)}{2 l}", "m (a + b)/(2 l)"),
        (r"\frac{a + b}{2}", "(a + b)/2"),
        (r"\cos^{2}(\theta) x^{-1}", "cos²(θ) x⁻¹"),
        (r"x^{n + 1} \quad \Omega \times v", "x^(n+1)  Ω × v"),
        (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", "[a  b; c  d]"),
        (r"J_{S,\mathrm{cart}}", "J_(S,cart)"),
        (r"\tau(q, 0, 0)|_{g = 0}", "τ(q, 0, 0) |_(g=0)"),
        (r"(\gamma_k)_{ij} S^{-T} m (a)", "(γ_k)_ij S⁻ᵀ m (a)"),
    ],
)
def test_formulas_as_text(latex: str, expected: str) -> None:
    assert text(latex) == expected


def test_accents_take_no_column() -> None:
    assert width("θ̇ ẋ") == 3


def test_a_sum_is_broken_between_terms() -> None:
    value = sum(sp.Symbol(f"m_{i}") * sp.Symbol(f"l_{i}") ** 2 for i in range(1, 30))
    made = Layout(40, Writer()).sum("M", value)
    written = lines(made, 42)
    assert len(made.lines) > 3
    assert all(width(line) <= 42 for line in written)
    assert all(line.strip().startswith("+ ") for line in written[1:])
    assert "".join(written).count("l") == 29


def test_words_wrap_at_spaces_alone() -> None:
    assert wrapped("aaa bbb ccc".split(), 7) == ["aaa bbb", "ccc"]
    assert wrapped(["wider-than-that"], 4) == ["wider-than-that"]


# MathML


def test_mathml_is_well_formed_and_keeps_every_letter() -> None:
    latex = (
        r"\left(M + m\right) \ddot{x} - \frac{l m \dot{\theta}_{1}^{2}}{2} < \begin{bmatrix} 1 & \cos(q) \end{bmatrix}"
    )
    tree = ElementTree.fromstring(mathml(latex))
    assert "".join(tree.itertext()) == "(M+m)x¨−lmθ˙122<[1cos(q)]"
    assert [element.tag for element in tree.iter() if element.tag in ("mfrac", "mtable", "msubsup")] == [
        "mfrac",
        "msubsup",
        "mtable",
    ]


def test_a_command_that_is_not_known_is_named() -> None:
    assert latex_parser.unknown(r"\dot x + \foo y") == {"foo"}


# Pages


def test_the_equations_row_by_row(equations: derive.Equations) -> None:
    shown = equations.unicode()
    assert "(M + m) ẍ + l m cos(θ) θ̈ - l m θ̇² sin(θ) + k x = F\n" in shown
    assert "l m cos(θ) ẍ + (I + l² m) θ̈ + g l m sin(θ) = 0\n" in shown
    assert "M(q) q̈ + b(q, q̇) + g(q) = τ" in shown
    assert "M(q) = ⎡ M + m " in shown  # a mass is called M too
    assert "b(q, q̇) = ⎡ " in shown


def test_every_step_is_there_with_its_tag_and_its_results(equations: derive.Equations) -> None:
    pages = equations.unicode(steps=True), equations.markdown(steps=True), equations.latex(steps=True), equations.html()
    for page in pages:
        for step in equations.steps:
            assert step.title in page
            assert step.tag in page
    assert "T = l m θ̇ ẋ cos(θ)" in pages[0]
    assert r"T = l m \dot{\theta} \dot{x} \cos(\theta)" in pages[1]


@pytest.mark.parametrize("method", ["lagrange", "projected-newton-euler"])
@pytest.mark.parametrize("columns", [60, 80, 140])
def test_text_fits_the_terminal(method: str, columns: int) -> None:
    shown = derive.equations(cart_pendulum(), method).unicode(steps=True, columns=columns)
    assert max(map(width, shown.splitlines())) <= columns


def test_constraints_and_velocities_that_are_no_rates_are_shown() -> None:
    shown = derive.equations(skate(), "projected-newton-euler").unicode()
    assert "λ₁" in shown
    assert "J(q) v̇ + J̇ v = 0" in shown
    assert "velocities v_x, v_y, ω" in shown
    assert "q̇ = ⎢ v_x sin(θ) + v_y cos(θ) ⎥" in shown


def test_what_was_shown_before_is_not_repeated(equations: derive.Equations) -> None:
    assert "M(q), b(q, q̇) and g(q) as above." in equations.unicode(steps=True)


def test_large_matrices_are_shown_entry_by_entry() -> None:
    entries = sp.ImmutableMatrix(3, 3, lambda i, j: sum(sp.Symbol(f"a_{n}") for n in range(10)) if i != j else 0)
    blocks = Layout(60, Writer()).result("M", entries)
    equalities = [block for block in blocks if isinstance(block, Equality)]
    assert [block.left for block in equalities] == ["M_{12}(q)", "M_{13}(q)", "M_{23}(q)"]
    assert blocks[-1] == Sentence("$M(q)$ is symmetric, and its other entries are zeros.")


def test_what_a_long_entry_has_often_gets_a_name() -> None:
    a, b, c = sp.symbols("a b c")
    part = sp.sin(a + 2 * b + 3 * c) * sp.cos(a * b * c)
    value = sum((part * sp.Symbol(f"m_{n}") for n in range(12)), sp.Integer(0))
    layout = Layout(60, Writer())
    first, *_, last = layout.result("b", value)
    assert isinstance(last, Equality)
    assert last.left == "d_{1}"  # no symbol begins with d
    assert text(last.lines[0]) == "sin(a + 2 b + 3 c) cos(a b c)"
    assert "sin" not in str(first)


def test_html_needs_no_network_and_is_well_formed(equations: derive.Equations, tmp_path: Path) -> None:
    page = equations.html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert not re.search(r"https?:|src=|<script|<link", page)
    body = ElementTree.fromstring(page[page.index("<body>") : page.index("</html>")])
    assert len(body.findall(".//math")) > 10
    assert body.findtext("h1") == "cart-pendulum: Lagrange, second kind"


def test_notebooks_show_formulas(equations: derive.Equations) -> None:
    assert equations._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")
    assert equations._repr_html_().count("<math") == 2


def test_repr_is_short(equations: derive.Equations) -> None:
    assert repr(equations) == "<Equations of cart-pendulum by lagrange: 2 velocities>"
    assert "1 constraint" in repr(derive.equations(skate(), "projected-newton-euler"))


def test_commands_of_all_steps_are_known() -> None:
    for system in (cart_pendulum(), skate()):
        for method in derive.applicable(system):
            for step in derive.equations(system, method).steps:
                for latex in (step.formula, *(name for name, _ in step.results)):
                    assert not latex_parser.unknown(latex), (method, step.title, latex)


def test_headings_begin_with_the_system(equations: derive.Equations) -> None:
    from multibody.derive import printing

    assert printing.blocks(equations)[0] == Heading("cart-pendulum: Lagrange, second kind")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_the_document_compiles(equations: derive.Equations, tmp_path: Path) -> None:
    (tmp_path / "page.tex").write_text(equations.latex(steps=True, document=True), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0, done.stdout[-2000:]


# Terms of the equations


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        (k * (x - l), "k (x - l)"),
        (k * x - k * l, "k (x - l)"),
        (-k * (l - x), "k (x - l)"),
        (m - k * (l - x), "k (x - l) + m"),
        (m * (m + 1), "m² + m"),
        (m * (sp.cos(theta - x) / 2 - sp.cos(theta + x) / 2), "m sin(θ) sin(x)"),
        (10 * (m + 2) / (k * l), "10 (m + 2)/(k l)"),
        (-m - k, "-k - m"),
    ],
)
def test_the_shorter_of_sum_and_product_with_a_positive_term_first(expression: sp.Expr, written: str) -> None:
    assert text(Writer()(expression)) == written
    assert text(joined(Writer().terms(expression))) == written


@pytest.mark.parametrize(
    ("system", "form"),
    [
        (cart_pendulum(), r"M(q) \ddot q + b(q, \dot q) + g(q) = \tau"),
        (skate(), r"M(q) \dot v + b(q, v) + g(q) = \tau + J(q)^T \lambda, \quad J(q) \dot v + \dot J v = 0"),
    ],
)
def test_terms_have_their_arguments_in_every_format(system: derive.System, form: str) -> None:
    derived = derive.equations(system)
    for steps in (False, True):
        assert " ".join(text(form).split()) in " ".join(derived.unicode(steps).split())
        assert form in derived.latex(steps)
        assert form in derived.markdown(steps)
        assert mathml(form, block=True) in derived.html(steps=steps)
        assert not re.search(r"^ *[MbgJ] = |^[MbgJ] = ", derived.unicode(steps) + derived.latex(steps), re.MULTILINE)


def test_brackets_stretch_in_a_browser(equations: derive.Equations, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    equations.html(tmp_path / "page.html", steps=False)
    heights = """() => [...document.querySelectorAll("mtable.matrix")].map(table => {
        const [left, right] = [table.previousElementSibling, table.nextElementSibling];
        return [left, table, right].map(x => x.getBoundingClientRect().height); })"""
    with playwright.sync_playwright() as tools:
        chromium = tools.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = chromium.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        measured = page.evaluate(heights)
        chromium.close()
    assert len(measured) == 4  # M, b, g and τ
    for left, table, right in measured:
        assert min(left, right) > 0.9 * table


def test_pages_and_documentation_use_the_same_fonts() -> None:
    style = (Path(__file__).parents[2] / "docs/_static/site.css").read_text(encoding="utf-8")
    rule = style.partition("\nmath {")[2].partition("}")[0]
    assert (
        rule.replace('"', "'").split("font-size")[0].split() == FORMULAS.partition("{")[2].split("font-size")[0].split()
    )
