#!/usr/bin/env python3
"""Holds the committed models against the Keras weights, in double precision, and prints what the photos give.

    python3 Models/make/verify_models.py [--cache FOLDER]

Every model file is read back and run by its own rules (mlmodel_reference), and compared with the same network
run from the Keras files (keras_reference). Exit status 1 when they differ by more than 1e-6 relative anywhere.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import coremltools as ct
import numpy as np

import keras_networks
import keras_reference
import mlmodel_reference
import photos

MODELS = Path(__file__).resolve().parent.parent
#: Parameters pass through float32 in the file (channel scale, epsilon): their rounding is all that may differ.
TOLERANCE = 1e-6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "needletail-packages",
                        help="where downloaded packages are kept")
    cache = parser.parse_args().cache
    worst = 0.0
    for network in (keras_networks.mobilenet(cache), keras_networks.emotion(cache)):
        spec = ct.utils.load_spec(str(MODELS / f"{network.title}.mlmodel"))
        if list(spec.neuralNetworkClassifier.stringClassLabels.vector) != network.labels:
            raise SystemExit(f"{network.title}: the labels in the file are not the package's")
        for photo in sorted((MODELS / "photos").glob("*.*")):
            pixels = photos.pixels(photo, network.side, network.channels)
            expected = keras_reference.probabilities(network, pixels)
            actual = mlmodel_reference.probabilities(spec, pixels)
            difference = float(np.max(np.abs(actual - expected) / np.maximum(np.abs(expected), 1e-12)))
            worst = max(worst, difference)
            print(f"{network.title}  {photo.name}  largest relative difference {difference:.1e}")
            for index in np.argsort(-expected, kind="stable")[:5]:
                print(f"    {expected[index]:.6f}  {network.labels[index]}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
