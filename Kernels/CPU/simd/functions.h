// Vector approximations of elementary functions, in the primitives of avx512.h, avx2.h or portable.h.
// Errors are stated against the exact value and measured by the elementwise tests.

// e^x as 2^n (1 + expm1(r)), x = n ln 2 + r, |r| <= ln 2 / 2. Returns expm1(r) and sets n, which lies in -160...160.
VINLINE vf vexp_reduced(vf x, vf *n_out) {
    // Past these bounds the result is 0 or infinity. NaN passes both.
    x = vmin(vset1(110.0f), vmax(vset1(-110.0f), x));
    // Adding 1.5 * 2^23 rounds to a whole number.
    const vf n = (x * vset1(1.44269504088896341f) + vset1(12582912.0f)) - vset1(12582912.0f);
    vf r = vfma(n, vset1(-0.693359375f), x);
    r = vfma(n, vset1(2.12194440054690583e-4f), r);
    // expm1(r) / r by its Taylor series: the next term is below 2^-29 of the sum.
    vf p = vset1(1.0f / 5040.0f);
    p = vfma(p, r, vset1(1.0f / 720.0f));
    p = vfma(p, r, vset1(1.0f / 120.0f));
    p = vfma(p, r, vset1(1.0f / 24.0f));
    p = vfma(p, r, vset1(1.0f / 6.0f));
    p = vfma(p, r, vset1(0.5f));
    *n_out = n;
    return vfma(r * r, p, r);
}

// 2^n for whole n in -126...127.
VINLINE vf vpow2(vi n) { return (vf)((n + 127) << 23); }

/// e^x; 0 and infinity beyond float's range, subnormal results included.
VINLINE vf vexp(vf x) {
    vf n;
    const vf e = vexp_reduced(x, &n) + vset1(1.0f);
    const vi whole = vtoint(n), half = whole >> 1;
    return e * vpow2(half) * vpow2(whole - half);
}

/// e^x - 1, with small relative error near 0 too.
VINLINE vf vexpm1(vf x) {
    vf n;
    const vf e = vexp_reduced(x, &n);
    const vi whole = vtoint(n), half = whole >> 1;
    const vf scale = vpow2(half), rest = vpow2(whole - half);
    // scale * rest * (1 + e) - 1 = scale * rest * e + (scale * rest - 1)
    const vf power = scale * rest;
    const vf value = vfma(power, e, power - vset1(1.0f));
    // Beyond 2^127 the power itself overflows; the 1 no longer matters there.
    return vselect(n > vset1(126.0f), (e + vset1(1.0f)) * scale * rest, value);
}

/// ln(x): NaN below 0, -infinity at 0, infinity at infinity.
VINLINE vf vlog(vf x) {
    // Subnormals are scaled up by 2^23 first.
    const vi tiny = x < vset1(1.17549435e-38f);
    const vf scaled = vselect(tiny, x * vset1(8388608.0f), x);
    vi bits = (vi)scaled;
    // m in [sqrt(1/2), sqrt(2)): ln x = e ln 2 + ln m
    const vi exponent = ((bits - 0x3f3504f3) >> 23);
    const vf m = (vf)(bits - (exponent << 23));
    const vf e = vfromint(exponent) - vselect(tiny, vset1(23.0f), vset1(0));
    // ln m = 2 atanh(s), s = (m - 1) / (m + 1)
    const vf f = m - vset1(1.0f);
    const vf s = f / (m + vset1(1.0f));
    const vf z = s * s;
    vf p = vset1(2.0f / 11.0f);
    p = vfma(p, z, vset1(2.0f / 9.0f));
    p = vfma(p, z, vset1(2.0f / 7.0f));
    p = vfma(p, z, vset1(2.0f / 5.0f));
    p = vfma(p, z, vset1(2.0f / 3.0f));
    // 2 s = f - s f, which keeps the leading term exact
    const vf small = vfma(s, vfma(p, z, -f), e * vset1(-2.12194440e-4f));
    vf value = vfma(e, vset1(0.693359375f), f + small);
    value = vselect(x == vset1(0), vset1(-__builtin_inff()), value);
    value = vselect(x < vset1(0), vset1(__builtin_nanf("")), value);
    value = vselect(x == vset1(__builtin_inff()), x, value);
    return vselect(x == x, value, x);
}

/// ln(1 + x) for x >= 0.
VINLINE vf vlog1p(vf x) {
    const vf u = vset1(1.0f) + x;
    const vf correction = (x - (u - vset1(1.0f))) / u;
    return vlog(u) + correction;
}

VINLINE vf vabs(vf x) { return (vf)((vi)x & 0x7fffffff); }
VINLINE vf vcopysign(vf magnitude, vf sign) { return (vf)(((vi)magnitude & 0x7fffffff) | ((vi)sign & (int32_t)0x80000000)); }

/// 1 / (1 + e^-x)
VINLINE vf vsigmoid(vf x) { return vset1(1.0f) / (vset1(1.0f) + vexp(-x)); }

/// tanh x = t / (t + 2), t = expm1(2 |x|), with x's sign; 1 beyond 10.
VINLINE vf vtanh(vf x) {
    const vf a = vmin(vset1(10.0f), vabs(x));
    const vf t = vexpm1(a + a);
    return vcopysign(t / (t + vset1(2.0f)), x);
}

/// erf x: its Taylor series below 0.8; above, 1 - e^(-x^2) p(1 / (1 + 0.3275911 x)), Abramowitz and Stegun 7.1.26.
VINLINE vf verf(vf x) {
    const vf a = vabs(x), z = x * x;
    vf q = vset1(-1.0f / 75600.0f);
    q = vfma(q, z, vset1(1.0f / 9360.0f));
    q = vfma(q, z, vset1(-1.0f / 1320.0f));
    q = vfma(q, z, vset1(1.0f / 216.0f));
    q = vfma(q, z, vset1(-1.0f / 42.0f));
    q = vfma(q, z, vset1(1.0f / 10.0f));
    q = vfma(q, z, vset1(-1.0f / 3.0f));
    const vf near = vset1(1.1283791670955126f) * vfma(q * z, x, x);
    const vf t = vset1(1.0f) / vfma(vset1(0.3275911f), a, vset1(1.0f));
    vf p = vset1(1.061405429f);
    p = vfma(p, t, vset1(-1.453152027f));
    p = vfma(p, t, vset1(1.421413741f));
    p = vfma(p, t, vset1(-0.284496736f));
    p = vfma(p, t, vset1(0.254829592f));
    const vf far = vset1(1.0f) - p * t * vexp(-z);
    return vselect(a < vset1(0.8f), near, vcopysign(far, x));
}
