"""From a JPEG file to the best class with Pillow and ONNX Runtime.

    python peers/photo_peer.py MODEL.onnx PHOTO.jpg [--threads T] [--draft] [--report FILE.json]

Reads the file, decodes it, crops the centre, resizes it as Pillow's BILINEAR does, runs the network, finds the largest output. `--draft` lets the
decoder reduce the picture first, to no less than the network's size. Answers as protocol.py says; the report holds the best class and the median
milliseconds of each stage.
"""

import argparse
import json
import time
from pathlib import Path

import protocol  # first: it keeps standard output for answers

import numpy as np
import onnxruntime
from PIL import Image


class Photo:
    """One file and one network; `run` takes the one through the other."""

    def __init__(self, model: Path, photo: Path, threads: int, draft: bool):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.side = self.session.get_inputs()[0].shape[-1]
        self.photo, self.draft = photo, draft
        self.stages: list[tuple[float, ...]] = []

    def run(self) -> int:
        clock = time.perf_counter
        start = clock()
        with Image.open(self.photo) as image:
            if self.draft:
                scale = self.side / min(image.size)
                image.draft("RGB", tuple(round(side * scale) for side in image.size))
            image.load()
            decoded = clock()
            width, height = image.size
            side = min(width, height)
            left, top = (width - side) / 2, (height - side) / 2
            small = image.convert("RGB").resize((self.side, self.side), Image.Resampling.BILINEAR,
                                                (left, top, left + side, top + side))
        planes = np.ascontiguousarray(np.asarray(small, dtype=np.float32).transpose(2, 0, 1)[None])
        prepared = clock()
        output = self.session.run(None, {"image": planes})[0]
        inferred = clock()
        best = int(output.argmax())
        end = clock()
        self.stages.append((decoded - start, prepared - decoded, inferred - prepared, end - inferred))
        return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("photo", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--draft", action="store_true")
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    photo = Photo(arguments.model, arguments.photo, arguments.threads, arguments.draft)
    best = photo.run()
    photo.stages.clear()
    for _ in range(5):
        photo.run()
    if arguments.report:
        names = ("decode", "prepare", "infer", "label")
        medians = np.median(np.array(photo.stages) * 1e3, axis=0)
        arguments.report.write_text(json.dumps({"topIndex": best, "stages": dict(zip(names, medians.tolist()))}))
    protocol.serve(photo.run)


if __name__ == "__main__":
    main()
