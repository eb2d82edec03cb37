/* Operations on whole matrices, for the C99 that `to_c` writes: one function for each kind of `tracing/matrices/kinds.py`.

   Arguments: the sizes, then the operands, then the results, row by row. Sums run from the first product to the last. A
   kernel rounds a fused multiply-add once; this code rounds it twice. `real`, `square_root` and `absolute` are replaced
   by their names in the chosen precision. */

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

static void mb_cholesky(int p, const real *a, real *f)
{
    for (int i = 0; i < p; ++i)
        for (int j = 0; j <= i; ++j) {
            real sum = a[i * p + j];
            for (int k = 0; k < j; ++k)
                sum -= f[i * p + k] * f[j * p + k];
            f[i * p + j] = f[j * p + i] = i == j ? square_root(sum) : sum / f[j * p + j];
        }
}

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
            if (absolute(f[i * p + j]) > absolute(f[pivot * p + j]))
                pivot = i;
        real saved = order[j];
        order[j] = order[pivot];
        order[pivot] = saved;
        for (int k = 0; k < p; ++k) {
            saved = f[j * p + k];
            f[j * p + k] = f[pivot * p + k];
            f[pivot * p + k] = saved;
        }
        f[j * p + j] = 1 / f[j * p + j];
        for (int i = j + 1; i < p; ++i) {
            f[i * p + j] *= f[j * p + j];
            for (int k = j + 1; k < p; ++k)
                f[i * p + k] -= f[i * p + j] * f[j * p + k];
        }
    }
}

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

static void mb_lu_solve_transposed(int p, int q, const real *f, const real *order, const real *b, real *x)
{
    for (int c = 0; c < q; ++c) { /* z is stored in pivot order, in its final rows */
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
