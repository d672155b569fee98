// JPEG and PNG decoding and encoding behind calls that always return. Both libraries report errors by longjmp, which Swift must never see:
// every setjmp is in this module, and so is every limit that has to be checked while a file is being read.
#ifndef CNT_CODECS_H
#define CNT_CODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What went wrong, coarsely; the text has the library's own words.
enum {
    NT_CODEC_OK = 0,
    NT_CODEC_CORRUPT = 1,      ///< the bytes break the format
    NT_CODEC_TRUNCATED = 2,    ///< the bytes end before the picture does
    NT_CODEC_UNSUPPORTED = 3,  ///< a valid file of a kind that is not decoded (12-bit, lossless JPEG)
    NT_CODEC_TOO_LARGE = 4,    ///< over a limit given by the caller
    NT_CODEC_NO_MEMORY = 5,
};

typedef struct {
    int32_t code;       ///< NT_CODEC_...
    char message[192];  ///< NUL-terminated, may be empty
} nt_codec_error;

/// Limits on a hostile file.
typedef struct {
    uint64_t max_pixels;      ///< width * height of the whole picture
    uint32_t max_scans;       ///< scans of a progressive JPEG
    uint64_t max_scan_pixels; ///< scans * width * height of a progressive JPEG: bounds the time, not only the memory
} nt_codec_limits;

/// The header of a picture. `channels` is 1 (grey) or 4 (red, green, blue, then one byte without meaning).
typedef struct {
    uint32_t width, height;
    int32_t channels;
} nt_codec_info;

typedef struct nt_jpeg nt_jpeg;

/// Reads the header. `bytes` must outlive the decoder. NULL and `error` filled on failure. One thread at a time.
nt_jpeg *nt_jpeg_open(const uint8_t *bytes, size_t byte_count, nt_codec_limits limits, nt_codec_info *info, nt_codec_error *error);

/// Asks for 1/`denominator` of the size (1, 2, 4 or 8) and stores the resulting size, rounded up, in `info`.
bool nt_jpeg_reduce(nt_jpeg *jpeg, uint32_t denominator, nt_codec_info *info, nt_codec_error *error);

/// Decodes columns `first_column` to `first_column + column_count` of the picture into `pixels`, rows `bytes_per_row` apart, top row first, each in its
/// place in the whole picture; of columns beside them some are written too. At an inner edge of what is asked for, colours may be those of a
/// picture that ends there. CMYK and YCCK come out as RGB; their inks
/// are taken as stored inverted, with and without an Adobe marker, as Pillow and browsers do. A file that ends early, or whose entropy-coded data is damaged, is an error. Call once.
bool nt_jpeg_decode(
    nt_jpeg *jpeg, uint32_t first_column, uint32_t column_count, uint8_t *pixels, size_t bytes_per_row, nt_codec_error *error);
void nt_jpeg_close(nt_jpeg *jpeg);

typedef struct nt_png nt_png;

/// Reads the header. `bytes` must outlive the decoder. NULL and `error` filled on failure. One thread at a time.
nt_png *nt_png_open(const uint8_t *bytes, size_t byte_count, nt_codec_limits limits, nt_codec_info *info, nt_codec_error *error);

/// Decodes into `pixels`, rows `bytes_per_row` apart, top row first. 16-bit samples keep their high byte; 1, 2 and 4-bit grey is
/// spread over 0...255; palettes are looked up; colours are not multiplied by alpha and not gamma-corrected. Call once.
bool nt_png_decode(nt_png *png, uint8_t *pixels, size_t bytes_per_row, nt_codec_error *error);
void nt_png_close(nt_png *png);

/// Pixels to encode, rows `bytes_per_row` apart, top row first: grey (1 channel), red, green, blue (3), or those and a fourth byte (4), which is
/// alpha that colours are not multiplied by in PNG and nothing in JPEG.
typedef struct {
    const uint8_t *bytes;
    size_t bytes_per_row;
    uint32_t width, height;
    int32_t channels;
} nt_codec_pixels;

/// An encoded file, to be freed with nt_codec_bytes_free.
typedef struct {
    uint8_t *bytes;
    size_t byte_count;
} nt_codec_bytes;

/// Encodes at a quality from 0 to 100. An `orientation` from 2 to 8 is written as EXIF's. False and `error` filled on failure.
bool nt_jpeg_encode(const nt_codec_pixels *pixels, int quality, uint32_t orientation, nt_codec_bytes *result, nt_codec_error *error);
bool nt_png_encode(const nt_codec_pixels *pixels, uint32_t orientation, nt_codec_bytes *result, nt_codec_error *error);
void nt_codec_bytes_free(void *memory);

#endif
