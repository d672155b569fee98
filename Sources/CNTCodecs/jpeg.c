#include "include/CNTCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct nt_jpeg {
    struct jpeg_decompress_struct cinfo;  // first: callbacks get a pointer to it
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    nt_codec_limits limits;
    nt_codec_error failure;
    bool end_of_file;    // the reader ran out of bytes
    bool damaged;        // some entropy-coded data was missing or wrong
    bool damage_is_end;  // ... because the data ended
    bool created;
};

static nt_jpeg *owner(j_common_ptr cinfo) { return (nt_jpeg *)cinfo; }

static void fail(nt_jpeg *jpeg, int32_t code, const char *message) {
    jpeg->failure.code = code;
    snprintf(jpeg->failure.message, sizeof jpeg->failure.message, "%s", message);
}

static void on_error(j_common_ptr cinfo) {
    nt_jpeg *jpeg = owner(cinfo);
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    int32_t code = NT_CODEC_CORRUPT;
    switch (cinfo->err->msg_code) {
        case JERR_OUT_OF_MEMORY: code = NT_CODEC_NO_MEMORY; break;
        case JERR_INPUT_EOF:
        case JERR_INPUT_EMPTY: code = NT_CODEC_TRUNCATED; break;
        case JERR_BAD_PRECISION:
        case JERR_SOF_UNSUPPORTED:
        case JERR_NOT_COMPILED:
        case JERR_CONVERSION_NOTIMPL:
        case JERR_CCIR601_NOTIMPL:
        case JERR_ARITH_NOTIMPL:
        case JERR_FRACT_SAMPLE_NOTIMPL: code = NT_CODEC_UNSUPPORTED; break;
        default: break;
    }
    // Bytes made up after the end of the file can look like anything.
    fail(jpeg, code == NT_CODEC_CORRUPT && jpeg->end_of_file ? NT_CODEC_TRUNCATED : code, text);
    longjmp(jpeg->escape, 1);
}

static void on_message(j_common_ptr cinfo, int level) {
    if (level >= 0) return;
    nt_jpeg *jpeg = owner(cinfo);
    switch (cinfo->err->msg_code) {
        case JWRN_JPEG_EOF: jpeg->end_of_file = true; break;
        case JWRN_HIT_MARKER:
            jpeg->damaged = true;
            jpeg->damage_is_end = true;
            break;
        case JWRN_HUFF_BAD_CODE:
        case JWRN_ARITH_BAD_CODE:
        case JWRN_MUST_RESYNC:
        case JWRN_NOT_SEQUENTIAL: jpeg->damaged = true; break;
        default: break;
    }
}

static void discard_output(j_common_ptr cinfo) { (void)cinfo; }

static void on_progress(j_common_ptr cinfo) {
    nt_jpeg *jpeg = owner(cinfo);
    uint64_t scans = (uint64_t)jpeg->cinfo.input_scan_number;
    uint64_t pixels = (uint64_t)jpeg->cinfo.image_width * jpeg->cinfo.image_height;
    if (scans <= jpeg->limits.max_scans && scans * pixels <= jpeg->limits.max_scan_pixels) return;
    char text[96];
    snprintf(text, sizeof text, "progressive JPEG with more than %llu scans", (unsigned long long)(scans - 1));
    fail(jpeg, NT_CODEC_TOO_LARGE, text);
    longjmp(jpeg->escape, 1);
}

void nt_jpeg_close(nt_jpeg *jpeg) {
    if (!jpeg) return;
    if (jpeg->created) jpeg_destroy_decompress(&jpeg->cinfo);
    free(jpeg);
}

static void describe(nt_jpeg *jpeg, nt_codec_info *info) {
    jpeg_calc_output_dimensions(&jpeg->cinfo);
    info->width = jpeg->cinfo.output_width;
    info->height = jpeg->cinfo.output_height;
    info->channels = jpeg->cinfo.out_color_space == JCS_GRAYSCALE ? 1 : 4;
}

nt_jpeg *nt_jpeg_open(const uint8_t *bytes, size_t byte_count, nt_codec_limits limits, nt_codec_info *info, nt_codec_error *error) {
    nt_jpeg *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg) {
        *error = (nt_codec_error){NT_CODEC_NO_MEMORY, "out of memory"};
        return NULL;
    }
    jpeg->limits = limits;
    jpeg->cinfo.err = jpeg_std_error(&jpeg->errors);
    jpeg->errors.error_exit = on_error;
    jpeg->errors.emit_message = on_message;
    jpeg->errors.output_message = discard_output;
    if (setjmp(jpeg->escape)) {
        *error = jpeg->failure;
        nt_jpeg_close(jpeg);
        return NULL;
    }
    jpeg->created = true;
    jpeg_create_decompress(&jpeg->cinfo);
    jpeg->progress.progress_monitor = on_progress;
    jpeg->cinfo.progress = &jpeg->progress;
    jpeg_mem_src(&jpeg->cinfo, bytes, byte_count);
    jpeg_read_header(&jpeg->cinfo, TRUE);
    if ((uint64_t)jpeg->cinfo.image_width * jpeg->cinfo.image_height > limits.max_pixels) {
        char text[96];
        snprintf(text, sizeof text, "%u x %u pixels", jpeg->cinfo.image_width, jpeg->cinfo.image_height);
        fail(jpeg, NT_CODEC_TOO_LARGE, text);
        longjmp(jpeg->escape, 1);
    }
    switch (jpeg->cinfo.jpeg_color_space) {
        case JCS_GRAYSCALE: jpeg->cinfo.out_color_space = JCS_GRAYSCALE; break;
        case JCS_CMYK:
        case JCS_YCCK: jpeg->cinfo.out_color_space = JCS_CMYK; break;
        case JCS_RGB:
        case JCS_YCbCr: jpeg->cinfo.out_color_space = JCS_EXT_RGBX; break;
        default: {
            char text[96];
            snprintf(text, sizeof text, "JPEG with %d components of unknown meaning", jpeg->cinfo.num_components);
            fail(jpeg, NT_CODEC_UNSUPPORTED, text);
            longjmp(jpeg->escape, 1);
        }
    }
    describe(jpeg, info);
    return jpeg;
}

bool nt_jpeg_reduce(nt_jpeg *jpeg, uint32_t denominator, nt_codec_info *info, nt_codec_error *error) {
    if (setjmp(jpeg->escape)) {
        *error = jpeg->failure;
        return false;
    }
    jpeg->cinfo.scale_num = 1;
    jpeg->cinfo.scale_denom = denominator;
    describe(jpeg, info);
    return true;
}

static inline uint8_t times(uint8_t a, uint8_t b) {
    uint32_t t = (uint32_t)a * b + 128;
    return (uint8_t)(((t >> 8) + t) >> 8);
}

// In place. Inks are stored inverted (255 is no ink), as every known writer of such files does.
static void rgb_from_cmyk(uint8_t *row, uint32_t width) {
    for (uint32_t x = 0; x < width; ++x) {
        uint8_t *p = row + 4 * (size_t)x;
        uint8_t light = p[3];
        for (int c = 0; c < 3; ++c) p[c] = (uint8_t)(light - times(255 - p[c], light));
        p[3] = 255;
    }
}

bool nt_jpeg_decode(
    nt_jpeg *jpeg, uint32_t first_column, uint32_t column_count, uint8_t *pixels, size_t bytes_per_row, nt_codec_error *error) {
    if (setjmp(jpeg->escape)) {
        *error = jpeg->failure;
        return false;
    }
    struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;
    jpeg_start_decompress(cinfo);
    bool one_scan = !jpeg_has_multiple_scans(cinfo);
    JDIMENSION left = first_column, width = column_count;
    if (column_count < cinfo->output_width) {
        // Whole blocks, so `left` may move and `width` grow.
        jpeg_crop_scanline(cinfo, &left, &width);
        pixels += (size_t)left * (size_t)cinfo->out_color_components;
    }
    while (cinfo->output_scanline < cinfo->output_height) {
        JSAMPROW rows[16];
        uint32_t first = cinfo->output_scanline, count = cinfo->output_height - first;
        if (count > 16) count = 16;
        for (uint32_t i = 0; i < count; ++i) rows[i] = pixels + (size_t)(first + i) * bytes_per_row;
        uint32_t done = jpeg_read_scanlines(cinfo, rows, count);
        if (cinfo->out_color_space == JCS_CMYK)
            for (uint32_t i = 0; i < done; ++i)
                rgb_from_cmyk(rows[i], cinfo->output_width);
        if (done == 0 || jpeg->damaged) break;
    }
    // A file of one scan that lacks only its end marker has all its pixels; any other early end has lost some.
    bool complete = cinfo->output_scanline >= cinfo->output_height && !jpeg->damaged && (one_scan || !jpeg->end_of_file);
    if (!complete) {
        bool truncated = jpeg->end_of_file || jpeg->damage_is_end;
        fail(jpeg, truncated ? NT_CODEC_TRUNCATED : NT_CODEC_CORRUPT,
             truncated ? "the compressed data ends before the picture does" : "damaged compressed data");
        longjmp(jpeg->escape, 1);
    }
    return true;
}
