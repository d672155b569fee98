"""PyTorch in a process of its own, so that whatever takes too long can be ended. One JSON object a line, in and out.

    {"do": "facts"}
    {"do": "make", "network": NAME, "folder": FOLDER}        writes NAME.mlmodel and NAME.input.npy, and computes NAME.torch.npy
    {"do": "time", "network": NAME, "batch": N, "precision": float32|float16, "seconds": S, "limit": S, "folder": FOLDER}
"""

import copy
import json
import os
import statistics
import sys
import time
from pathlib import Path

#: Libraries print to standard output while they load; answers keep it.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
import torch  # noqa: E402

from networks import architectures, write_mlmodel  # noqa: E402
from networks.torch_model import TorchModel  # noqa: E402

MODELS: dict[str, TorchModel] = {}
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
TYPES = {"float32": torch.float32, "float16": torch.float16}


def facts(_: dict) -> dict:
    name = torch.cuda.get_device_name() if DEVICE.type == "cuda" else f"cpu, {torch.get_num_threads()} threads"
    return {"torch": torch.__version__, "device": name, "cuda_device": DEVICE.type == "cuda", "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}


def model(name: str, network=None) -> TorchModel:
    """The network, made when first asked for: a worker that replaces another one has none."""
    if name not in MODELS:
        MODELS[name] = TorchModel(network or architectures.ALL[name]()).eval()
    return MODELS[name]


def make(request: dict) -> dict:
    name, folder = request["network"], Path(request["folder"])
    network = architectures.ALL[name]()
    write_mlmodel.write(network, folder / f"{name}.mlmodel")
    image = np.random.default_rng(0).integers(0, 256, (1, *network.shape), dtype=np.uint8).astype(np.float32)
    np.save(folder / f"{name}.input.npy", image)
    with torch.inference_mode():
        np.save(folder / f"{name}.torch.npy", model(name, network)(torch.from_numpy(image)).numpy())
    return {"multiply_adds": network.multiply_adds, "shape": network.shape}


def clock(run, seconds: float, deadline: float) -> dict:
    """Milliseconds of a run: each run is awaited before the next, as a request that needs its answer is. Past the deadline one run will do."""
    for _ in range(3):
        run()
        wait()
        if time.perf_counter() > deadline:
            break
    times, start = [], time.perf_counter()
    while not times or (time.perf_counter() - start < seconds or len(times) < 3) and time.perf_counter() < deadline:
        before = time.perf_counter()
        run()
        wait()
        times.append((time.perf_counter() - before) * 1e3)
    return {"median_ms": statistics.median(times), "fastest_ms": min(times), "runs": len(times)}


def wait() -> None:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def measure(request: dict) -> dict:
    deadline = time.perf_counter() + request["limit"] / 2
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    precision, batch = TYPES[request["precision"]], request["batch"]
    image = torch.from_numpy(np.load(Path(request["folder"]) / f"{request['network']}.input.npy"))
    image = image.expand(batch, -1, -1, -1).to(DEVICE, precision).contiguous(memory_format=torch.channels_last)
    module = copy.deepcopy(model(request["network"])).to(DEVICE, precision).to(memory_format=torch.channels_last)
    results = {}
    with torch.inference_mode():
        found = module(image)[:1].float().cpu().numpy()
        expected = np.load(Path(request["folder"]) / f"{request['network']}.torch.npy")
        results["difference"] = float(np.abs(found - expected).max() / expected.max())
        ways = {"eager": lambda: module(image)}
        if DEVICE.type == "cuda":
            ways["graph"] = record_graph(module, image)
        host = image.to("cpu", torch.float32)
        host = host.pin_memory() if DEVICE.type == "cuda" else host
        for name, run in ways.items():
            results[name] = clock(run, request["seconds"] / 2, deadline)
            results[f"{name} with transfers"] = clock(
                lambda: (image.copy_(host), run().float().cpu()), request["seconds"] / 2, deadline)
    results["device_ms"] = min(results[name]["median_ms"] for name in ways)
    results["request_ms"] = min(results[f"{name} with transfers"]["median_ms"] for name in ways)
    return results


def record_graph(model: TorchModel, image: torch.Tensor):
    """The model as one CUDA graph; each call replays it and returns its output."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(image)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = model(image)

    def replay() -> torch.Tensor:
        graph.replay()
        return output

    return replay


def main() -> None:
    actions = {"facts": facts, "make": make, "time": measure}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = actions[request["do"]](request)
        except Exception as error:  # The answer carries it.
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
