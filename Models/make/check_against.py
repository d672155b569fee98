#!/usr/bin/env python3
"""Runs `needletail predict` and `needletail classify` on every committed model and compares with the golden tensors.

    python3 Models/make/check_against.py [--needletail PROGRAM] [--backend NAME]... [--threads N]

Two checks for each entry of Tests/Fixtures/Models/goldens.json:
  predict   the golden input through `predict`: every probability within 1e-4 relative of double precision, and the label;
  classify  the photo itself through `classify --json`: the label, and its confidence within 0.03 (decoding and
            resizing may differ by 1 of 255).
Prints one line a check; exit status 1 when one fails.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "Tests/Fixtures/Models"
RELATIVE = 1e-4
#: Below this probability only the absolute difference counts: float32 softmax has no more to give.
FLOOR = 1e-9
CONFIDENCE = 0.03


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--needletail", default=str(ROOT / ".build/release/needletail"), help="the program to check")
    parser.add_argument("--backend", action="append", help="may be repeated (default: cpu, reference)")
    parser.add_argument("--threads", type=int, help="passed on where given")
    arguments = parser.parse_args()
    if shutil.which(arguments.needletail) is None:
        parser.error(f"{arguments.needletail}: no such program; build it with `swift build -c release`, or name it")
    failures = 0
    for backend in arguments.backend or ["cpu", "reference"]:
        options = ["--backend", backend]
        if arguments.threads:
            options += ["--threads", str(arguments.threads)]
        for entry in json.loads((GOLDENS / "goldens.json").read_text()):
            for name, check in (("predict", _check_predict), ("classify", _check_classify)):
                fault, detail = check(arguments.needletail, entry, options)
                failures += fault
                state = "FAIL" if fault else "ok"
                print(f"{state:4}  {backend:9}  {name:8}  {entry['model']:16}  {entry['photo']:13}  {detail}", flush=True)
    print(f"{failures} failed" if failures else "all passed")
    return 1 if failures else 0


def _check_predict(program: str, entry: dict, options: list[str]) -> tuple[bool, str]:
    expected = np.load(GOLDENS / entry["probabilities"]).astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        pixels = Path(folder) / "input.npy"
        np.save(pixels, np.load(GOLDENS / entry["input"]).astype(np.float32))
        result = subprocess.run([program, "predict", str(ROOT / "Models" / entry["model"]), "--input",
                                 f"image={pixels}", "--output", folder, *options], capture_output=True, text=True)
        if result.returncode != 0:
            return True, f"exit status {result.returncode}: {result.stderr.strip()[:200]}"
        file = Path(folder) / "classLabelProbs.json"
        if not file.is_file():
            return True, f"no {file.name} among {sorted(path.name for path in Path(folder).iterdir())}"
        table = json.loads(file.read_text())
    labels = _labels(entry["model"])
    by_label: dict[str, list[float]] = {}
    for label, probability in zip(labels, expected):
        by_label.setdefault(label, []).append(float(probability))
    if set(table) != set(by_label):
        return True, f"{len(table)} labels, expected {len(by_label)}: {sorted(set(table) ^ set(by_label))[:3]}"
    worst = 0.0
    for label, actual in table.items():
        # A label that stands twice in the list may answer with either of its probabilities.
        difference = min(abs(actual - value) / max(value, FLOOR) for value in by_label[label])
        worst = max(worst, difference if math.isfinite(actual) else math.inf)
    best = max(table, key=table.get)
    return worst > RELATIVE or best != entry["label"], f"largest relative difference {worst:.1e}, label {best}"


def _check_classify(program: str, entry: dict, options: list[str]) -> tuple[bool, str]:
    result = subprocess.run([program, "classify", str(ROOT / "Models" / entry["model"]),
                             str(ROOT / "Models/photos" / entry["photo"]), "--top", "1", "--crop", "centerCrop", "--json",
                             *options], capture_output=True, text=True)
    if result.returncode != 0:
        return True, f"exit status {result.returncode}: {result.stderr.strip()[:200]}"
    best = json.loads(result.stdout.splitlines()[0])["predictions"][0]
    fault = best["label"] != entry["label"] or not abs(best["confidence"] - entry["confidence"]) <= CONFIDENCE
    return fault, f"{best['label']} {best['confidence']:.4f}, expected {entry['label']} {entry['confidence']:.4f}"


def _labels(model: str) -> list[str]:
    return json.loads((GOLDENS / f"{Path(model).stem}-labels.json").read_text())


if __name__ == "__main__":
    sys.exit(main())
