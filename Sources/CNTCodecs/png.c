#include "include/CNTCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct nt_png {
    png_structp reader;
    png_infop info;
    jmp_buf escape;
    const uint8_t *bytes;
    size_t byte_count, position;
    nt_codec_error failure;
    png_bytep *rows;
    uint32_t width, height;
};

static void fail(nt_png *png, int32_t code, const char *message) {
    png->failure.code = code;
    snprintf(png->failure.message, sizeof png->failure.message, "%s", message);
    longjmp(png->escape, 1);
}

static void on_error(png_structp reader, png_const_charp message) {
    nt_png *png = png_get_error_ptr(reader);
    if (strstr(message, "Not enough image data") != NULL || strstr(message, "Not enough compressed data") != NULL)
        fail(png, NT_CODEC_TRUNCATED, message);
    fail(png, strstr(message, "emory") != NULL ? NT_CODEC_NO_MEMORY : NT_CODEC_CORRUPT, message);
}

static void on_warning(png_structp reader, png_const_charp message) {
    (void)reader;
    (void)message;
}

static void on_read(png_structp reader, png_bytep into, png_size_t count) {
    nt_png *png = png_get_io_ptr(reader);
    if (count > png->byte_count - png->position)
        fail(png, NT_CODEC_TRUNCATED, "the file ends before the picture does");
    memcpy(into, png->bytes + png->position, count);
    png->position += count;
}

void nt_png_close(nt_png *png) {
    if (!png) return;
    if (png->reader) png_destroy_read_struct(&png->reader, &png->info, NULL);
    free(png->rows);
    free(png);
}

nt_png *nt_png_open(const uint8_t *bytes, size_t byte_count, nt_codec_limits limits, nt_codec_info *info, nt_codec_error *error) {
    nt_png *png = calloc(1, sizeof *png);
    if (!png) {
        *error = (nt_codec_error){NT_CODEC_NO_MEMORY, "out of memory"};
        return NULL;
    }
    png->bytes = bytes;
    png->byte_count = byte_count;
    if (setjmp(png->escape)) {
        *error = png->failure;
        nt_png_close(png);
        return NULL;
    }
    png->reader = png_create_read_struct(PNG_LIBPNG_VER_STRING, png, on_error, on_warning);
    if (png->reader) png->info = png_create_info_struct(png->reader);
    if (!png->info) fail(png, NT_CODEC_NO_MEMORY, "out of memory");
    png_set_read_fn(png->reader, png, on_read);
    png_set_user_limits(png->reader, 0x7fffffff, 0x7fffffff);
    png_set_chunk_cache_max(png->reader, 256);
    png_set_chunk_malloc_max(png->reader, 8u << 20);
    png_read_info(png->reader, png->info);
    png->width = png_get_image_width(png->reader, png->info);
    png->height = png_get_image_height(png->reader, png->info);
    if ((uint64_t)png->width * png->height > limits.max_pixels) {
        char text[96];
        snprintf(text, sizeof text, "%u x %u pixels", png->width, png->height);
        fail(png, NT_CODEC_TOO_LARGE, text);
    }
    int color = png_get_color_type(png->reader, png->info);
    int depth = png_get_bit_depth(png->reader, png->info);
    bool grey = (color & PNG_COLOR_MASK_COLOR) == 0;
    if (depth == 16) png_set_strip_16(png->reader);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png->reader);
    if (grey) {
        if (depth < 8) png_set_expand_gray_1_2_4_to_8(png->reader);
        if (color & PNG_COLOR_MASK_ALPHA) png_set_strip_alpha(png->reader);
    } else {
        png_set_filler(png->reader, 255, PNG_FILLER_AFTER);
    }
    png_set_interlace_handling(png->reader);
    png_read_update_info(png->reader, png->info);
    info->width = png->width;
    info->height = png->height;
    info->channels = grey ? 1 : 4;
    if (png_get_rowbytes(png->reader, png->info) != (size_t)png->width * (size_t)info->channels)
        fail(png, NT_CODEC_UNSUPPORTED, "PNG rows of an unexpected size");
    return png;
}

bool nt_png_decode(nt_png *png, uint8_t *pixels, size_t bytes_per_row, nt_codec_error *error) {
    if (setjmp(png->escape)) {
        *error = png->failure;
        return false;
    }
    png->rows = calloc(png->height, sizeof *png->rows);
    if (!png->rows) fail(png, NT_CODEC_NO_MEMORY, "out of memory");
    for (uint32_t y = 0; y < png->height; ++y) png->rows[y] = pixels + (size_t)y * bytes_per_row;
    png_read_image(png->reader, png->rows);
    png_read_end(png->reader, NULL);
    return true;
}
