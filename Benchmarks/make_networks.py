"""Writes the benchmark networks: one set of random weights, the same computation in every format.

    python Benchmarks/make_networks.py FOLDER [--only NAME ...] [--batch N ...] [--check]

Per network NAME: NAME.mlmodel (image input `image`, no preprocessing, array output `output`), NAME.onnx, NAME.tflite and
NAME.input.npy (uint8 (1, C, H, W), random). For each batch N above 1 also NAME.batchN.onnx and NAME.batchN.tflite, which
fix their batch; the .mlmodel serves any. networks.json has multiply-adds and bytes of weights.
--check evaluates every .mlmodel in double precision and compares it with onnxruntime.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from networks import architectures, write_mlmodel, write_onnx, write_tflite


def check(folder: Path, name: str) -> float:
    """The largest difference between onnxruntime and the .mlmodel in double precision, relative to the largest output."""
    import onnxruntime
    from coremltools.models.utils import load_spec

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Models" / "make"))
    import mlmodel_reference

    image = np.load(folder / f"{name}.input.npy")
    network = load_spec(str(folder / f"{name}.mlmodel")).neuralNetwork
    expected = mlmodel_reference.blobs(network, image)["output"].reshape(-1)
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
    found = session.run(None, {"image": image.astype(np.float32)})[0].reshape(-1)
    return float(np.abs(found - expected).max() / expected.max())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=architectures.ALL, default=list(architectures.ALL))
    parser.add_argument("--batch", type=int, nargs="+", default=[])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    facts_file = folder / "networks.json"
    facts = json.loads(facts_file.read_text()) if facts_file.exists() else {}
    failed = 0
    for name in arguments.only:
        network = architectures.ALL[name]()
        write_mlmodel.write(network, folder / f"{name}.mlmodel")
        for batch in {1, *arguments.batch}:
            suffix = "" if batch == 1 else f".batch{batch}"
            write_onnx.write(network, folder / f"{name}{suffix}.onnx", batch)
            write_tflite.write(network, folder / f"{name}{suffix}.tflite", batch)
        image = np.random.default_rng(0).integers(0, 256, (1, *network.shape), dtype=np.uint8)
        np.save(folder / f"{name}.input.npy", image)
        weights = sum(array.nbytes for node in network.nodes for array in (node.weights, node.bias) if array is not None)
        facts[name] = {"shape": network.shape, "multiply_adds": network.multiply_adds, "weight_bytes": weights}
        line = f"{name}: {network.multiply_adds / 1e6:.1f} M multiply-adds, {weights / 1e6:.1f} MB of weights"
        if arguments.check:
            error = check(folder, name)
            failed += error > 1e-4
            line += f", .mlmodel and onnxruntime apart by {error:.1e}"
        print(line, flush=True)
    facts_file.write_text(json.dumps(facts, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
