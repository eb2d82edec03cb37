"""C99 of the operations on whole matrices: a function for each, with loops.

They take their sizes, then their operands and last their results, row by row. Sums run from the first product to the
last; what a kernel rounds once, as a fused multiply-add, is rounded twice here.
"""

FUNCTIONS = {
    "product": """
static void mb_product(int m, int p, int q, const real *a, const real *b, real *c)
{
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < q; ++j) {
            real sum = 0;
            for (int k = 0; k < p; ++k)
                sum += a[i * p + k] * b[k * q + j];
            c[i * q + j] = sum;
        }
}
""",
    "gram": """
static void mb_gram(int p, int q, const real *a, real *c)
{
    for (int i = 0; i < q; ++i)
        for (int j = 0; j <= i; ++j) {
            real sum = 0;
            for (int k = 0; k < p; ++k)
                sum += a[k * q + i] * a[k * q + j];
            c[i * q + j] = c[j * q + i] = sum;
        }
}
""",
    "weighted_gram": """
static void mb_weighted_gram(int p, int q, const real *a, const real *w, real *c)
{
    for (int i = 0; i < q; ++i)
        for (int j = 0; j <= i; ++j) {
            real sum = 0;
            for (int k = 0; k < p; ++k)
                sum += a[k * q + i] * w[k] * a[k * q + j];
            c[i * q + j] = c[j * q + i] = sum;
        }
}
""",
    "ldlt": """
static void mb_ldlt(int p, const real *a, real *f)
{
    for (int i = 0; i < p; ++i)
        for (int j = 0; j <= i; ++j) {
            real sum = a[i * p + j];
            for (int k = 0; k < j; ++k)
                sum -= f[k * p + i] * f[j * p + k];
            f[j * p + i] = sum;
            f[i * p + j] = i == j ? 1 / sum : sum * f[j * p + j];
        }
}
""",
    "ldlt_solve": """
static void mb_ldlt_solve(int p, int q, const real *f, const real *b, real *x)
{
    for (int c = 0; c < q; ++c) {
        for (int i = 0; i < p; ++i) {
            x[i * q + c] = b[i * q + c];
            for (int k = 0; k < i; ++k)
                x[i * q + c] -= f[i * p + k] * x[k * q + c];
        }
        for (int i = p - 1; i >= 0; --i) {
            x[i * q + c] *= f[i * p + i];
            for (int k = p - 1; k > i; --k)
                x[i * q + c] -= f[k * p + i] * x[k * q + c];
        }
    }
}
""",
    "cholesky": """
static void mb_cholesky(int p, const real *a, real *f)
{
    for (int i = 0; i < p; ++i)
        for (int j = 0; j <= i; ++j) {
            real sum = a[i * p + j];
            for (int k = 0; k < j; ++k)
                sum -= f[i * p + k] * f[j * p + k];
            f[i * p + j] = f[j * p + i] = i == j ? root(sum) : sum / f[j * p + j];
        }
}
""",
    "lower_solve": """
static void mb_lower_solve(int p, int q, const real *f, const real *b, real *x)
{
    for (int c = 0; c < q; ++c)
        for (int i = 0; i < p; ++i) {
            x[i * q + c] = b[i * q + c];
            for (int k = 0; k < i; ++k)
                x[i * q + c] -= f[i * p + k] * x[k * q + c];
            x[i * q + c] /= f[i * p + i];
        }
}
""",
    "upper_solve": """
static void mb_upper_solve(int p, int q, const real *f, const real *b, real *x)
{
    for (int c = 0; c < q; ++c)
        for (int i = p - 1; i >= 0; --i) {
            x[i * q + c] = b[i * q + c];
            for (int k = p - 1; k > i; --k)
                x[i * q + c] -= f[i * p + k] * x[k * q + c];
            x[i * q + c] /= f[i * p + i];
        }
}
""",
    "lu": """
static void mb_lu(int p, const real *a, real *f)
{
    real *order = f + p * p;
    for (int i = 0; i < p; ++i) {
        order[i] = (real)i;
        for (int j = 0; j < p; ++j)
            f[i * p + j] = a[i * p + j];
    }
    for (int j = 0; j < p; ++j) {
        int pivot = j;
        for (int i = j + 1; i < p; ++i)
            if (size(f[i * p + j]) > size(f[pivot * p + j]))
                pivot = i;
        real kept = order[j];
        order[j] = order[pivot];
        order[pivot] = kept;
        for (int k = 0; k < p; ++k) {
            kept = f[j * p + k];
            f[j * p + k] = f[pivot * p + k];
            f[pivot * p + k] = kept;
        }
        f[j * p + j] = 1 / f[j * p + j];
        for (int i = j + 1; i < p; ++i) {
            f[i * p + j] *= f[j * p + j];
            for (int k = j + 1; k < p; ++k)
                f[i * p + k] -= f[i * p + j] * f[j * p + k];
        }
    }
}
""",
    "lu_solve": """
static void mb_lu_solve(int p, int q, const real *f, const real *order, const real *b, real *x)
{
    for (int c = 0; c < q; ++c) {
        for (int i = 0; i < p; ++i) {
            x[i * q + c] = b[(int)order[i] * q + c];
            for (int k = 0; k < i; ++k)
                x[i * q + c] -= f[i * p + k] * x[k * q + c];
        }
        for (int i = p - 1; i >= 0; --i) {
            for (int k = p - 1; k > i; --k)
                x[i * q + c] -= f[i * p + k] * x[k * q + c];
            x[i * q + c] *= f[i * p + i];
        }
    }
}
""",
    "lu_solve_transposed": """
static void mb_lu_solve_transposed(int p, int q, const real *f, const real *order, const real *b, real *x)
{
    for (int c = 0; c < q; ++c) { /* z is kept in the order of the pivots, in the rows that it ends up in */
        for (int i = 0; i < p; ++i) {
            real sum = b[i * q + c];
            for (int k = 0; k < i; ++k)
                sum -= f[k * p + i] * x[(int)order[k] * q + c];
            x[(int)order[i] * q + c] = sum * f[i * p + i];
        }
        for (int i = p - 1; i >= 0; --i)
            for (int k = p - 1; k > i; --k)
                x[(int)order[i] * q + c] -= f[k * p + i] * x[(int)order[k] * q + c];
    }
}
""",
}
"""By kind; `real`, `root` and `size` stand for what they are in a precision."""


def source(kinds: list[str], real: str) -> str:
    """The functions of some kinds of operations, in a precision."""
    suffix = "" if real == "double" else "f"
    text = "".join(FUNCTIONS[kind] for kind in kinds)
    for word, meaning in (("real", real), ("root(", f"sqrt{suffix}("), ("size(", f"fabs{suffix}(")):
        text = text.replace(word, meaning)
    return text
