// The body of the sums of Strassen's method, written in the primitives of simd/*.h.

VINLINE vf strassen_load(const float *p, size_t n, const int whole) { return whole ? vload(p) : vload_n(p, n); }
VINLINE void strassen_store(float *p, vf v, size_t n, const int whole) {
    if (whole) vstore(p, v);
    else vstore_n(p, v, n);
}

// One vector of a row; `lower` is NULL for a missing row.
VINLINE void strassen_input(
    const nt_strassen_inputs *x, const float *upper, const float *lower, float *s, size_t c, size_t n, const int whole) {
    const vf zero = vset1(0);
    const vf a11 = strassen_load(upper + c, n, whole), a12 = strassen_load(upper + x->columns + c, n, whole);
    const vf a21 = lower ? strassen_load(lower + c, n, whole) : zero;
    const vf a22 = lower ? strassen_load(lower + x->columns + c, n, whole) : zero;
    const vf s1 = a21 + a22, s2 = s1 - a11;
    strassen_store(s + c, s1, n, whole);
    strassen_store(s + x->plane + c, s2, n, whole);
    strassen_store(s + 2 * x->plane + c, a11 - a21, n, whole);
    strassen_store(s + 3 * x->plane + c, a12 - s2, n, whole);
}

void VNAME(nt_strassen_inputs)(const nt_strassen_inputs *);
void VNAME(nt_strassen_inputs)(const nt_strassen_inputs *x) {
    for (size_t i = 0; i < x->rows; i++) {
        const float *upper = x->a + i * x->a_stride;
        const float *lower = i < x->lower_rows ? upper + x->rows * x->a_stride : NULL;
        float *s = x->s + i * x->s_stride;
        size_t c = 0;
        for (; c + VL <= x->columns; c += VL) strassen_input(x, upper, lower, s, c, VL, 1);
        if (c < x->columns) strassen_input(x, upper, lower, s, c, x->columns - c, 0);
    }
}

VINLINE void strassen_output(const nt_strassen_outputs *o, size_t i, size_t c, size_t n, const int whole) {
    const size_t at = i * o->stride + c;
    const vf p5 = strassen_load(o->p5 + at, n, whole);
    strassen_store(o->u2 + at, strassen_load(o->u2 + at, n, whole) + p5, n, whole);
    if (i >= o->lower_rows) return;
    vf value = strassen_load(o->u3 + at, n, whole) + p5 + strassen_load(o->bias + c, n, whole);
    if (o->residual) value += strassen_load(o->residual + i * o->residual_stride + c, n, whole);
    strassen_store(o->c22 + i * o->c_stride + c, vmax(vset1(o->lo), vmin(vset1(o->hi), value)), n, whole);
}

void VNAME(nt_strassen_outputs)(const nt_strassen_outputs *);
void VNAME(nt_strassen_outputs)(const nt_strassen_outputs *o) {
    for (size_t i = 0; i < o->rows; i++) {
        size_t c = 0;
        for (; c + VL <= o->columns; c += VL) strassen_output(o, i, c, VL, 1);
        if (c < o->columns) strassen_output(o, i, c, o->columns - c, 0);
    }
}
