"""Makes the pictures and expected pixels that NTImageTests reads. Needs Pillow and numpy.

    python3 Tests/Fixtures/NTImage/make_images.py

Writes beside itself: small JPEG, PNG and WebP files; decode.json (their pixels as Pillow decodes them, the alpha channel dropped and
16 bits cut to their high byte); resize.json (formula pictures resized by Pillow).
"""
import base64
import io
import json
import math
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).parent


def formula(width, height):
    """The picture that FormulaImage in the tests makes too."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    return (((x * x * 3 + y * y * 5 + x * y + c * 89) >> 2) & 255).astype(np.uint8)


def smooth(width, height):
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    return np.round(127 + 90 * np.sin(x / 7 + c) + 37 * np.cos(y / 5 - c)).astype(np.uint8)


# Decoding ----------------------------------------------------------------------------------------------------------

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(array, color, depth, interlaced=False, extra=b"", late=b""):
    """A PNG writer for what Pillow does not write: 16-bit colour, Adam7, chunks of one's own."""
    height, width = array.shape[:2]

    def rows(part):
        return b"".join(b"\0" + row.tobytes() for row in part) if part.shape[0] and part.shape[1] else b""

    data = array.astype(">u2") if depth == 16 else array.astype(np.uint8)
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        raw = b"".join(rows(data[y0::dy, x0::dx]) for x0, y0, dx, dy in passes)
    else:
        raw = rows(data)
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(raw, 9)) + late + chunk(b"IEND", b""))


def exif(orientation, big=False):
    order = ">" if big else "<"
    return ((b"MM\0*" if big else b"II*\0") + struct.pack(order + "IH", 8, 2) + struct.pack(order + "HHII", 0x0100, 4, 1, 9)
            + struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0) + struct.pack(order + "I", 0))


def save(image, fmt, **options):
    out = io.BytesIO()
    image.save(out, fmt, **options)
    return out.getvalue()


def decode_cases():
    rgb = smooth(37, 29)
    image = Image.fromarray(rgb)
    grey = image.convert("L")
    alpha = Image.fromarray(np.dstack([rgb, (np.add.outer(np.arange(29), np.arange(37)) * 4 % 256).astype(np.uint8)]))
    wide = (rgb.astype(np.uint32) * 257 + 131).clip(0, 65535)
    files, expected = {}, {}

    def add(name, data, pixels=None):
        files[name] = data
        if pixels is None:
            picture = Image.open(io.BytesIO(data))
            keep = "L" if picture.mode in ("L", "1", "LA") else "RGB"
            if picture.mode in ("LA", "RGBA"):
                pixels = np.asarray(picture)[..., : len(keep)].squeeze()
            elif picture.mode == "P":
                pixels = np.asarray(picture.convert("RGBA"))[..., :3]
            else:
                pixels = np.asarray(picture.convert(keep))
        expected[name] = pixels

    for name, sampling in (("444", "4:4:4"), ("422", "4:2:2"), ("420", "4:2:0")):
        add(f"jpeg_{name}.jpg", save(image, "JPEG", quality=90, subsampling=sampling))
    add("jpeg_progressive.jpg", save(image, "JPEG", quality=85, progressive=True))
    add("jpeg_restart.jpg", save(image, "JPEG", quality=85, restart_marker_blocks=2))
    add("jpeg_grey.jpg", save(grey, "JPEG", quality=90))
    ink = np.asarray(image.convert("CMYK")).copy()
    ink[..., 3] = rgb[..., 1] // 3
    cmyk = Image.fromarray(ink, mode="CMYK")
    data = save(cmyk, "JPEG", quality=95)
    add("jpeg_cmyk_adobe.jpg", data)
    at = data.index(b"Adobe")
    add("jpeg_ycck_adobe.jpg", data[: at + 11] + b"\x02" + data[at + 12:])
    start = at - 4
    length = struct.unpack(">H", data[at - 2: at])[0]
    add("jpeg_cmyk_plain.jpg", data[:start] + data[at - 2 + length:])

    add("png_rgb.png", save(image, "PNG"))
    add("png_grey.png", save(grey, "PNG"))
    add("png_bit.png", save(image.convert("1"), "PNG"))
    add("png_palette.png", save(image.quantize(16), "PNG"))
    add("png_palette_trns.png", save(image.quantize(16), "PNG", transparency=bytes(range(0, 256, 16))))
    add("png_rgba.png", save(alpha, "PNG"), np.asarray(alpha)[..., :3])
    add("png_grey_alpha.png", save(alpha.convert("LA"), "PNG"))
    add("png_rgb_trns.png", png(rgb, 2, 8, extra=chunk(b"tRNS", struct.pack(">HHH", *map(int, rgb[3, 4])))), rgb)
    add("png_grey16.png", png(wide[..., 0], 0, 16), (wide[..., 0] >> 8).astype(np.uint8))
    add("png_rgb16.png", png(wide, 2, 16), (wide >> 8).astype(np.uint8))
    add("png_interlaced.png", png(rgb, 2, 8, interlaced=True), rgb)
    add("png_interlaced_grey16.png", png(wide[..., 1], 0, 16, interlaced=True), (wide[..., 1] >> 8).astype(np.uint8))
    add("png_gamma.png", png(rgb, 2, 8, extra=chunk(b"gAMA", struct.pack(">I", 45455))), rgb)

    add("webp_lossy.webp", save(image, "WEBP", quality=80))
    add("webp_lossless.webp", save(image, "WEBP", lossless=True))
    add("webp_alpha.webp", save(alpha, "WEBP", lossless=True, exact=True), np.asarray(alpha)[..., :3])
    second = Image.fromarray(255 - rgb)
    add("webp_animated.webp", save(image, "WEBP", save_all=True, append_images=[second], lossless=True, duration=50), rgb)

    for number in range(1, 9):
        files[f"exif_{number}.jpg"] = save(Image.fromarray(rgb[:8, :16]), "JPEG", quality=90, exif=b"Exif\0\0" + exif(number, big=number % 2 == 0))
    files["exif_6.png"] = png(rgb[:8, :16], 2, 8, extra=chunk(b"eXIf", exif(6)))
    files["exif_8_late.png"] = png(rgb[:8, :16], 2, 8, late=chunk(b"eXIf", exif(8, big=True)))
    files["exif_3.webp"] = save(Image.fromarray(rgb[:8, :16]), "WEBP", lossless=True, exif=exif(3))
    files["large.jpg"] = save(Image.fromarray(smooth(640, 427)), "JPEG", quality=80)
    for name, data in files.items():
        (HERE / name).write_bytes(data)
    cases = []
    for name, pixels in expected.items():
        cases.append({"file": name, "width": pixels.shape[1], "height": pixels.shape[0],
                      "channels": 1 if pixels.ndim == 2 else 3,
                      "pixels": base64.b64encode(np.ascontiguousarray(pixels).tobytes()).decode()})
    (HERE / "decode.json").write_text(json.dumps(cases, indent=0) + "\n")


# Resizing ----------------------------------------------------------------------------------------------------------

T = Image.Transpose
TURNS = {1: None, 2: T.FLIP_LEFT_RIGHT, 3: T.ROTATE_180, 4: T.FLIP_TOP_BOTTOM, 5: T.TRANSPOSE, 6: T.ROTATE_270,
         7: T.TRANSVERSE, 8: T.ROTATE_90}


def resized(image, size, box):
    """Columns first, then rows, each by Pillow: its one-step result, but for the order of the passes, which Pillow may choose."""
    columns = image.resize((size[0], image.size[1]), Image.Resampling.BILINEAR, box=(box[0], 0, box[2], image.size[1]))
    result = columns.resize(size, Image.Resampling.BILINEAR, box=(0, box[1], size[0], box[3]))
    once = image.resize(size, Image.Resampling.BILINEAR, box=tuple(box))
    assert np.abs(np.asarray(result).astype(int) - np.asarray(once)).max() <= 1
    return result


def expected_pixels(image, target, crop, roi, orientation, color):
    if color == "grayscale":
        image = image.convert("L")
    if TURNS[orientation] is not None:
        image = image.transpose(TURNS[orientation])
    w, h = image.size
    x, y, rw, rh = roi
    box = [x * w, (1 - y - rh) * h, (x + rw) * w, (1 - y) * h]
    box = [round(v) if abs(v - round(v)) < 1e-6 else v for v in box]
    left, top = math.floor(box[0]), math.floor(box[1])
    image = image.crop((left, top, math.ceil(box[2]), math.ceil(box[3])))
    box = [box[0] - left, box[1] - top, box[2] - left, box[3] - top]
    if crop.endswith("Rotate90CCW"):
        width = image.size[0]
        image = image.transpose(T.ROTATE_90)
        box = [box[1], width - box[2], box[3], width - box[0]]
        crop = crop[: -len("Rotate90CCW")]
    tw, th = target
    bw, bh = box[2] - box[0], box[3] - box[1]
    if crop == "centerCrop":
        if bw * th > bh * tw:
            kept = bh * tw / th
            box[0] += (bw - kept) / 2
            box[2] = box[0] + kept
        else:
            kept = bw * th / tw
            box[1] += (bh - kept) / 2
            box[3] = box[1] + kept
        result = resized(image, target, box)
    elif crop == "scaleFill":
        result = resized(image, target, box)
    else:
        scale = min(tw / bw, th / bh)
        size = (max(1, min(tw, math.floor(bw * scale + 0.5))), max(1, min(th, math.floor(bh * scale + 0.5))))
        result = Image.new(image.mode, target)
        result.paste(resized(image, size, box), ((tw - size[0]) // 2, (th - size[1]) // 2))
    pixels = np.asarray(result)
    return pixels[..., ::-1] if color == "bgr" else pixels


def resize_cases():
    cases = []

    def add(source, target, crop="scaleFill", roi=(0, 0, 1, 1), orientation=1, color="rgb"):
        pixels = expected_pixels(Image.fromarray(formula(*source)), target, crop, roi, orientation, color)
        cases.append({"source": source, "target": target, "crop": crop, "roi": roi, "orientation": orientation, "color": color,
                      "pixels": base64.b64encode(np.ascontiguousarray(pixels).tobytes()).decode()})

    crops = ["centerCrop", "scaleFit", "scaleFill", "scaleFitRotate90CCW", "scaleFillRotate90CCW"]
    for target in ((16, 16), (5, 7), (50, 41), (37, 29), (1, 1), (8, 3)):
        add((37, 29), target)
        add((37, 29), target, color="grayscale")
    for crop in crops:
        for source in ((37, 29), (28, 41), (33, 33), (300, 5)):
            add(source, (13, 13), crop)
        add((37, 29), (9, 17), crop, color="bgr")
        add((41, 64), (17, 9), crop, roi=(0.25, 0.125, 0.5, 0.625), orientation=6)
    for orientation in range(1, 9):
        add((37, 29), (11, 14), "scaleFill", orientation=orientation)
        add((37, 29), (14, 11), "centerCrop", orientation=orientation, color="grayscale")
        add((37, 29), (12, 12), "scaleFitRotate90CCW", orientation=orientation, color="bgr")
        add((40, 30), (9, 8), "scaleFill", roi=(0.3, 0.1, 0.45, 0.55), orientation=orientation)
    add((640, 427), (40, 40), "centerCrop")
    add((640, 427), (33, 30), "scaleFit", orientation=8)
    add((427, 640), (40, 31), "scaleFill", color="grayscale")
    add((1, 1), (3, 2))
    add((2, 1), (5, 4))
    add((3, 2), (2, 3), orientation=5)
    (HERE / "resize.json").write_text(json.dumps(cases, indent=0) + "\n")


decode_cases()
resize_cases()
