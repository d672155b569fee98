// Loads and stores of both element types. A tensor's element type is a macro that says `float` or `half`; arithmetic is in float.
// `LOAD(T, p, i)` reads one element, `LOADV(W, T, p, i)` W consecutive ones; no alignment beyond the element's is assumed.
#define NT_PASTE2_(a, b) a##b
#define NT_PASTE2(a, b) NT_PASTE2_(a, b)
#define NT_PASTE4_(a, b, c, d) a##b##c##d
#define NT_PASTE4(a, b, c, d) NT_PASTE4_(a, b, c, d)

#define LOAD(T, p, i) LOADV(1, T, p, i)
#define STORE(T, p, i, v) STOREV(1, T, p, i, v)
#define LOADV(W, T, p, i) NT_PASTE4(NT_LOAD, W, _, T)(p, i)
#define STOREV(W, T, p, i, v) NT_PASTE4(NT_STORE, W, _, T)(p, i, v)

#define NT_LOAD1_float(p, i) ((p)[i])
#define NT_LOAD4_float(p, i) vload4(0, (p) + (i))
#define NT_LOAD8_float(p, i) vload8(0, (p) + (i))
#define NT_LOAD16_float(p, i) vload16(0, (p) + (i))
#define NT_STORE1_float(p, i, v) ((p)[i] = (v))
#define NT_STORE4_float(p, i, v) vstore4(v, 0, (p) + (i))
#define NT_STORE8_float(p, i, v) vstore8(v, 0, (p) + (i))
#define NT_STORE16_float(p, i, v) vstore16(v, 0, (p) + (i))

#define NT_LOAD1_half(p, i) vload_half(i, p)
#define NT_LOAD4_half(p, i) vload_half4(0, (p) + (i))
#define NT_LOAD8_half(p, i) vload_half8(0, (p) + (i))
#define NT_LOAD16_half(p, i) vload_half16(0, (p) + (i))
#define NT_STORE1_half(p, i, v) vstore_half_rte(v, i, p)
#define NT_STORE4_half(p, i, v) vstore_half4_rte(v, 0, (p) + (i))
#define NT_STORE8_half(p, i, v) vstore_half8_rte(v, 0, (p) + (i))
#define NT_STORE16_half(p, i, v) vstore_half16_rte(v, 0, (p) + (i))

#ifdef ALIGNED
// Every vector of a program's global memory lies aligned as such, which graphics processors need to move it in one instruction.
// `LOADA(T, p, i)` and `STOREA(T, p, i, v)` move four elements.
#define LOADA(T, p, i) NT_PASTE2(NT_LOADA_, T)((p) + (i))
#define STOREA(T, p, i, v) NT_PASTE2(NT_STOREA_, T)((p) + (i), v)
#define NT_LOADA_float(p) (*(global const float4 *)(p))
#define NT_STOREA_float(p, v) (*(global float4 *)(p) = (v))
#define NT_LOADA_half(p) nt_load_halves(p)
#define NT_STOREA_half(p, v) nt_store_halves(p, v)
float4 nt_load_halves(global const half *p)
{
    ushort4 bits = *(global const ushort4 *)p;
    return vload_half4(0, (private const half *)&bits);
}
void nt_store_halves(global half *p, float4 v)
{
    ushort4 bits;
    vstore_half4_rte(v, 0, (private half *)&bits);
    *(global ushort4 *)p = bits;
}
#undef NT_LOAD4_float
#undef NT_STORE4_float
#undef NT_LOAD4_half
#undef NT_STORE4_half
#define NT_LOAD4_float(p, i) LOADA(float, p, i)
#define NT_STORE4_float(p, i, v) STOREA(float, p, i, v)
#define NT_LOAD4_half(p, i) LOADA(half, p, i)
#define NT_STORE4_half(p, i, v) STOREA(half, p, i, v)
#endif

// The vector of W floats; `VEC(1)` is a plain float.
#define VEC(W) NT_PASTE2(nt_float, W)
typedef float nt_float1;
typedef float4 nt_float4;
typedef float8 nt_float8;
typedef float16 nt_float16;

// A kernel is a program's entry, or with NT_IN_NETWORK a function that `network.cl` calls for each work-item, whose place comes as arguments.
#ifdef NT_IN_NETWORK
#define NT_KERNEL static __attribute__((always_inline)) void
#define NT_ITEM int item0, int item1, int item2,
#define ITEM(dimension) item##dimension
#else
#define NT_KERNEL kernel void
#define NT_ITEM
#define ITEM(dimension) ((int)get_global_id(dimension))
#endif

// A function of `functions.cl` for vectors of W floats. NT_VARIANT tells those of a network's kernels apart.
#ifndef NT_IN_NETWORK
#define NT_VARIANT
#endif
#define NT_FUNCTION_(name, W, variant) nt_##name##_##W##variant
#define NT_FUNCTION(name, W, variant) NT_FUNCTION_(name, W, variant)
#define FUNCTION(name, W) NT_FUNCTION(name, W, NT_VARIANT)
