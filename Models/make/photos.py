"""The sample photos and how a photo becomes a network's input."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

import packages

#: The astronaut's face in the 512 x 512 original: left, top, right, bottom.
FACE_BOX = (170, 60, 280, 170)


def write_all(cache: Path, folder: Path) -> None:
    """Writes astronaut.jpg, cat.png, coffee.jpg and face.png into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    astronaut = _open(packages.ASTRONAUT, cache)
    astronaut.save(folder / "astronaut.jpg", quality=92, subsampling=0)
    (folder / "cat.png").write_bytes(packages.read(packages.CAT, cache))
    _open(packages.COFFEE, cache).save(folder / "coffee.jpg", quality=92, subsampling=2)
    astronaut.crop(FACE_BOX).save(folder / "face.png", optimize=True)


def pixels(photo: Path, side: int, channels: int) -> np.ndarray:
    """A photo as (1, C, side, side) float32, values 0...255: the largest centred square (floor of half the
    surplus is cut from the start), resized by Pillow's antialiased BILINEAR, then ITU-R 601 luma for one channel."""
    image = Image.open(photo).convert("RGB")
    edge = min(image.size)
    left, top = (image.width - edge) // 2, (image.height - edge) // 2
    image = image.crop((left, top, left + edge, top + edge)).resize((side, side), Image.Resampling.BILINEAR)
    if channels == 1:
        return np.asarray(image.convert("L"), dtype=np.float32)[None, None]
    return np.ascontiguousarray(np.asarray(image, dtype=np.float32).transpose(2, 0, 1)[None])


def _open(source: tuple[str, str, str], cache: Path) -> Image.Image:
    return Image.open(io.BytesIO(packages.read(source, cache))).convert("RGB")
