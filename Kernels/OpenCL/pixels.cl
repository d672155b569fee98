// From a picture's bytes to an image of a network's input: antialiased resampling by tables of whole numbers, equal to the host's bit for bit.
//
// nt_narrow makes `middle`, [lines][columns] of 1 or 4 bytes: each target column x as a weighted sum of stored pixels, rounded to a byte.
// nt_combine sums those along y, rounds again and writes floats 0...255 in planes, with 0 around the drawn rectangle.
//
// `tables` holds, for x and then for y, the first source element per target element, how many are used, and their weights, [taps][count].
// A program has one of the two kernels, by NARROW or COMBINE; COMBINE is told by SINGLE that values are one byte.
//
// The stored region is `rowBytes` a row. Lines are stored rows; with TRANSPOSED stored columns, and x walks over stored rows.
// One of GRAY (a byte), PACKED (that many bytes a pixel), BIPLANAR (luma, and Cb Cr at half the size from `chroma` on); LUMA makes one value of colours.
#if defined(GRAY) || defined(LUMA) || defined(SINGLE)
#define VALUE int
#define BYTES uchar
#define SIZE 1
#define TO_BYTES convert_uchar_sat
#define FROM_BYTES(p) ((int)*(p))
#define PUT(v, p) (*(p) = (v))
#else
#define VALUE int4
#define BYTES uchar4
#define SIZE 4
#define TO_BYTES convert_uchar4_sat
#define FROM_BYTES(p) convert_int4(vload4(0, p))
#define PUT(v, p) vstore4(v, 0, p)
#endif
#define HALF (1 << 21)
#define SHIFT 22

#ifdef NARROW
// A stored pixel at column c of the row at `row`. Colours stay in their stored order but where luma or two planes make new ones.
#if defined(GRAY)
#define PIXEL(row, c) ((int)(row)[c])
#elif defined(PACKED) && defined(LUMA)
#define PIXEL(row, c) nt_luma((row)[(c) * PACKED + red], (row)[(c) * PACKED + green], (row)[(c) * PACKED + blue])
#elif defined(PACKED) && PACKED == 4
#define PIXEL(row, c) convert_int4(vload4(c, row))
#elif defined(PACKED)
#define PIXEL(row, c) ((int4)((row)[(c) * 3], (row)[(c) * 3 + 1], (row)[(c) * 3 + 2], 0))
#endif

int nt_luma(int r, int g, int b) { return (r * 19595 + g * 38470 + b * 7471 + 32768) >> 16; }

#ifdef BIPLANAR
// BT.601 in units of 2^-16: R = Y + 1.402 Cr, G = Y - 0.344136 Cb - 0.714136 Cr, B = Y + 1.772 Cb; BIPLANAR is 1 for video range, else 0.
VALUE nt_biplanar(int luma, int cb, int cr)
{
    const int scale = BIPLANAR ? 76309 : 65536, black = BIPLANAR ? 16 : 0;
    const int rv = BIPLANAR ? 104597 : 91881, gu = BIPLANAR ? 25675 : 22553, gv = BIPLANAR ? 53279 : 46802;
    const int bu = BIPLANAR ? 132201 : 116130;
    int y = (luma - black) * scale + 32768, u = cb - 128, v = cr - 128;
    int4 color = clamp((int4)(y + rv * v, y - gu * u - gv * v, y + bu * u, 0) >> 16, (int4)(0), (int4)(255));
#ifdef LUMA
    return nt_luma(color.x, color.y, color.z);
#else
    return color;
#endif
}
#endif

#ifdef BIPLANAR
#define STORED(r, c) nt_biplanar( \
    bytes[(size_t)(r) * rowBytes + (c)], bytes[chroma + (size_t)((r) >> 1) * chromaRowBytes + ((c) & ~1)], \
    bytes[chroma + (size_t)((r) >> 1) * chromaRowBytes + ((c) | 1)])
#else
#define STORED(r, c) PIXEL(bytes + (size_t)(r) * rowBytes, c)
#endif

// Dimension 1 of the range is the axis that steps over stored rows, dimension 0 runs of `run` elements of the other.
kernel void nt_narrow(
    global const uchar *bytes, global const int *tables, global uchar *middle, int columns, int lines, int run, int rowBytes,
    int chroma, int chromaRowBytes, int red, int green, int blue)
{
    global const int *firsts = tables, *counts = tables + columns, *weights = tables + 2 * columns;
    int outer = (int)get_global_id(1), start = (int)get_global_id(0) * run;
#ifdef TRANSPOSED
    int outers = columns, inners = lines;
#else
    int outers = lines, inners = columns;
#endif
    if (outer >= outers) return;
    int end = min(inners, start + run);
    for (int inner = start; inner < end; inner++) {
#ifdef TRANSPOSED
        int x = outer, line = inner;
#else
        int x = inner, line = outer;
#endif
        int first = firsts[x], count = counts[x];
        VALUE sum = (VALUE)(HALF);
        for (int k = 0; k < count; k++) {
#ifdef TRANSPOSED
            sum += weights[k * columns + x] * STORED(first + k, line);
#else
            sum += weights[k * columns + x] * STORED(line, first + k);
#endif
        }
        PUT(TO_BYTES(sum >> SHIFT), middle + ((size_t)line * columns + x) * SIZE);
    }
}

#else
// Dimension 1 of the range is the image's rows, dimension 0 runs of `run` of its columns. Plane k of the image takes byte order_k of a value.
kernel void nt_combine(
    global const uchar *middle, global const int *tables, global float *image, int columns, int rows, int run, int tableY, int width,
    int height, int left, int top, int offset, int planes, int order0, int order1, int order2)
{
    global const int *firsts = tables + tableY, *counts = firsts + rows, *weights = counts + rows;
    int line = (int)get_global_id(1), start = (int)get_global_id(0) * run;
    if (line >= height) return;
    int end = min(width, start + run), y = line - top;
    int inside = y >= 0 && y < rows;
    int first = inside ? firsts[y] : 0, count = inside ? counts[y] : 0;
    global float *target = image + (size_t)offset + (size_t)line * width;
    int plane = width * height;
    for (int column = start; column < end; column++) {
        int x = column - left;
        BYTES value = (BYTES)(0);
        if (inside && x >= 0 && x < columns) {
            VALUE sum = (VALUE)(HALF);
            for (int k = 0; k < count; k++)
                sum += weights[k * rows + y] * FROM_BYTES(middle + ((size_t)(first + k) * columns + x) * SIZE);
            value = TO_BYTES(sum >> SHIFT);
        }
#if SIZE == 1
        for (int k = 0; k < planes; k++) target[(size_t)k * plane + column] = (float)value;
#else
        uchar parts[4] = { value.x, value.y, value.z, value.w };
        target[column] = (float)parts[order0];
        target[(size_t)plane + column] = (float)parts[order1];
        target[2 * (size_t)plane + column] = (float)parts[order2];
#endif
    }
}
#endif
