#!/usr/bin/env python3
"""Writes the golden tensors of the committed models beside this script.

    python3 Tests/Fixtures/Models/make_goldens.py [--cache FOLDER]

For each model and photo: MODEL-PHOTO-input.npy, the image input as uint8 (1, C, H, W) raw 0...255 in the model's
channel order (uint8 to stay small: every value is whole, so widening it to float32 is exact), and
MODEL-PHOTO-probabilities.npy, the expected `classLabelProbs` in label order as float32 (labels), computed in
double precision from the Keras weights. MODEL-labels.json has the labels in that order; goldens.json lists them with the expected label and its probability.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
MODELS = HERE.parents[2] / "Models"
sys.path.insert(0, str(MODELS / "make"))

import keras_networks  # noqa: E402
import keras_reference  # noqa: E402
import photos  # noqa: E402

PHOTOS = {"MobileNet": ["astronaut.jpg", "cat.png", "coffee.jpg"],
          "Emotion": ["astronaut.jpg", "cat.png", "coffee.jpg", "face.png"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "needletail-packages",
                        help="where downloaded packages are kept")
    cache = parser.parse_args().cache
    entries = []
    for network in (keras_networks.mobilenet(cache), keras_networks.emotion(cache)):
        (HERE / f"{network.title}-labels.json").write_text(json.dumps(network.labels, indent=0) + "\n")
        for photo in PHOTOS[network.title]:
            pixels = photos.pixels(MODELS / "photos" / photo, network.side, network.channels)
            expected = keras_reference.probabilities(network, pixels)
            stem = f"{network.title}-{Path(photo).stem}"
            np.save(HERE / f"{stem}-input.npy", pixels.astype(np.uint8))
            np.save(HERE / f"{stem}-probabilities.npy", expected.astype(np.float32))
            best = int(np.argmax(expected))
            entries.append({"model": f"{network.title}.mlmodel", "photo": photo, "input": f"{stem}-input.npy",
                            "probabilities": f"{stem}-probabilities.npy", "label": network.labels[best],
                            "confidence": round(float(expected[best]), 6)})
    (HERE / "goldens.json").write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main()
