#include "include/CNTCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <png.h>

// The first image directory of EXIF data with one tag, the orientation.
enum { exif_count = 26 };

static void write_exif(uint8_t exif[exif_count], uint32_t orientation) {
    static const uint8_t head[] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1};
    memset(exif, 0, exif_count);
    memcpy(exif, head, sizeof head);
    exif[19] = (uint8_t)orientation;
}

static void report(nt_codec_error *error, int32_t code, const char *message) {
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
}

// Bytes that grow. Returns false, with what there was unchanged, when memory is short.
typedef struct {
    uint8_t *memory;
    size_t byte_count, capacity;
} byte_buffer;

static bool make_room(byte_buffer *buffer, size_t count) {
    if (count <= buffer->capacity - buffer->byte_count) return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 1u << 16;
    while (capacity - buffer->byte_count < count) {
        if (capacity > SIZE_MAX / 2) return false;
        capacity *= 2;
    }
    uint8_t *memory = realloc(buffer->memory, capacity);
    if (!memory) return false;
    buffer->memory = memory;
    buffer->capacity = capacity;
    return true;
}

// MARK: JPEG

typedef struct {
    struct jpeg_compress_struct cinfo;  // first: callbacks get a pointer to it
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf escape;
    nt_codec_error failure;
    byte_buffer buffer;
} jpeg_writer;

// The library writes between next_output_byte and the capacity.
static boolean take_jpeg_room(j_compress_ptr cinfo) {
    jpeg_writer *writer = (jpeg_writer *)cinfo;
    if (!make_room(&writer->buffer, 1u << 16)) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
    writer->destination.next_output_byte = writer->buffer.memory + writer->buffer.byte_count;
    writer->destination.free_in_buffer = writer->buffer.capacity - writer->buffer.byte_count;
    return TRUE;
}

static void on_jpeg_start(j_compress_ptr cinfo) { (void)take_jpeg_room(cinfo); }

static boolean on_jpeg_full(j_compress_ptr cinfo) {
    jpeg_writer *writer = (jpeg_writer *)cinfo;
    // Full whatever free_in_buffer says.
    writer->buffer.byte_count = writer->buffer.capacity;
    return take_jpeg_room(cinfo);
}

static void on_jpeg_end(j_compress_ptr cinfo) {
    jpeg_writer *writer = (jpeg_writer *)cinfo;
    writer->buffer.byte_count = writer->buffer.capacity - writer->destination.free_in_buffer;
}

static void on_jpeg_error(j_common_ptr cinfo) {
    jpeg_writer *writer = (jpeg_writer *)cinfo;
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    const int code = cinfo->err->msg_code;
    report(
        &writer->failure,
        code == JERR_OUT_OF_MEMORY ? NT_CODEC_NO_MEMORY : code == JERR_IMAGE_TOO_BIG ? NT_CODEC_TOO_LARGE : NT_CODEC_UNSUPPORTED, text);
    longjmp(writer->escape, 1);
}

static void on_jpeg_message(j_common_ptr cinfo) { (void)cinfo; }

bool nt_jpeg_encode(const nt_codec_pixels *pixels, int quality, uint32_t orientation, nt_codec_bytes *result, nt_codec_error *error) {
    jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        report(error, NT_CODEC_NO_MEMORY, "out of memory");
        return false;
    }
    struct jpeg_compress_struct *cinfo = &writer->cinfo;
    cinfo->err = jpeg_std_error(&writer->errors);
    writer->errors.error_exit = on_jpeg_error;
    writer->errors.output_message = on_jpeg_message;
    if (setjmp(writer->escape)) {
        *error = writer->failure;
        jpeg_destroy_compress(cinfo);
        free(writer->buffer.memory);
        free(writer);
        return false;
    }
    jpeg_create_compress(cinfo);
    writer->destination.init_destination = on_jpeg_start;
    writer->destination.empty_output_buffer = on_jpeg_full;
    writer->destination.term_destination = on_jpeg_end;
    cinfo->dest = &writer->destination;
    cinfo->image_width = pixels->width;
    cinfo->image_height = pixels->height;
    cinfo->input_components = pixels->channels;
    cinfo->in_color_space = pixels->channels == 1 ? JCS_GRAYSCALE : pixels->channels == 3 ? JCS_RGB : JCS_EXT_RGBX;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, quality, TRUE);
    // Colour at half the size shows where little else is lost.
    if (quality >= 90) cinfo->comp_info[0].h_samp_factor = cinfo->comp_info[0].v_samp_factor = 1;
    cinfo->optimize_coding = TRUE;
    jpeg_start_compress(cinfo, TRUE);
    if (orientation > 1 && orientation <= 8) {
        uint8_t segment[6 + exif_count] = "Exif\0";
        write_exif(segment + 6, orientation);
        jpeg_write_marker(cinfo, JPEG_APP0 + 1, segment, sizeof segment);
    }
    while (cinfo->next_scanline < cinfo->image_height) {
        JSAMPROW row = (JSAMPROW)(pixels->bytes + (size_t)cinfo->next_scanline * pixels->bytes_per_row);
        jpeg_write_scanlines(cinfo, &row, 1);
    }
    jpeg_finish_compress(cinfo);
    jpeg_destroy_compress(cinfo);
    *result = (nt_codec_bytes){writer->buffer.memory, writer->buffer.byte_count};
    free(writer);
    return true;
}

// MARK: PNG

typedef struct {
    png_structp writer;
    png_infop info;
    jmp_buf escape;
    nt_codec_error failure;
    byte_buffer buffer;
} png_target;

static void on_png_error(png_structp writer, png_const_charp message) {
    png_target *target = png_get_error_ptr(writer);
    report(&target->failure, strstr(message, "emory") != NULL ? NT_CODEC_NO_MEMORY : NT_CODEC_UNSUPPORTED, message);
    longjmp(target->escape, 1);
}

static void on_png_warning(png_structp writer, png_const_charp message) {
    (void)writer;
    (void)message;
}

static void on_png_write(png_structp writer, png_bytep bytes, png_size_t count) {
    png_target *target = png_get_io_ptr(writer);
    if (!make_room(&target->buffer, count)) png_error(writer, "out of memory");
    memcpy(target->buffer.memory + target->buffer.byte_count, bytes, count);
    target->buffer.byte_count += count;
}

static void on_png_flush(png_structp writer) { (void)writer; }

bool nt_png_encode(const nt_codec_pixels *pixels, uint32_t orientation, nt_codec_bytes *result, nt_codec_error *error) {
    png_target *target = calloc(1, sizeof *target);
    if (!target) {
        report(error, NT_CODEC_NO_MEMORY, "out of memory");
        return false;
    }
    if (setjmp(target->escape)) {
        *error = target->failure;
        if (target->writer) png_destroy_write_struct(&target->writer, &target->info);
        free(target->buffer.memory);
        free(target);
        return false;
    }
    target->writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, target, on_png_error, on_png_warning);
    if (target->writer) target->info = png_create_info_struct(target->writer);
    if (!target->info) {
        report(&target->failure, NT_CODEC_NO_MEMORY, "out of memory");
        longjmp(target->escape, 1);
    }
    png_set_write_fn(target->writer, target, on_png_write, on_png_flush);
    const int color =
        pixels->channels == 1 ? PNG_COLOR_TYPE_GRAY : pixels->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
    png_set_IHDR(
        target->writer, target->info, pixels->width, pixels->height, 8, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
        PNG_FILTER_TYPE_DEFAULT);
    if (orientation > 1 && orientation <= 8) {
        uint8_t exif[exif_count];
        write_exif(exif, orientation);
        png_set_eXIf_1(target->writer, target->info, exif_count, exif);
    }
    png_write_info(target->writer, target->info);
    for (uint32_t y = 0; y < pixels->height; ++y) png_write_row(target->writer, pixels->bytes + (size_t)y * pixels->bytes_per_row);
    png_write_end(target->writer, target->info);
    png_destroy_write_struct(&target->writer, &target->info);
    *result = (nt_codec_bytes){target->buffer.memory, target->buffer.byte_count};
    free(target);
    return true;
}

void nt_codec_bytes_free(void *memory) { free(memory); }
