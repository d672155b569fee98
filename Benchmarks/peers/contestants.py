"""Which engines take part, the model file each of them reads, and how its process is started."""

import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

PEERS = Path(__file__).resolve().parent
#: Multiply-adds of one run of sgemm_peer.py.
SGEMM_MULTIPLY_ADDS = 1024**3


@dataclass(frozen=True)
class Contestant:
    """One engine at one setting."""

    name: str
    precision: str
    """float32 or bfloat16: engines of one precision are ranked with each other."""
    script: str
    """The peer's program in this folder; empty for Needletail itself."""
    suffix: str
    """Of the model file it reads."""
    environment: dict[str, str] = field(default_factory=dict)
    backend: str = ""
    """Needletail's own backend."""
    setting: str = ""
    """Needletail's --precision."""
    scale: bool = False
    """Only shown beside the others for scale: its times enter no ratio of theirs."""

    @property
    def group(self) -> str:
        """Engines of one group are ranked with each other."""
        return self.precision + (" on the CPU" if self.scale else "")

    @property
    def ours(self) -> bool:
        return not self.script


PEER_CONTESTANTS = [
    Contestant("onnxruntime", "float32", "onnxruntime_peer.py", ".onnx"),
    Contestant("openvino-f32", "float32", "openvino_peer.py", ".onnx", {"OPENVINO_PEER_PRECISION": "f32"}),
    Contestant("openvino", "bfloat16", "openvino_peer.py", ".onnx"),
    Contestant("ncnn", "float32", "ncnn_peer.py", ".ncnn.param"),
    Contestant("mnn", "float32", "mnn_peer.py", ".mnn"),
    Contestant("litert", "float32", "litert_peer.py", ".tflite"),
]
OPENCL_CONTESTANTS = [
    replace(PEER_CONTESTANTS[0], scale=True),
    Contestant("tinygrad-opencl", "float32", "tinygrad_peer.py", ".onnx", {"DEV": "CL"}),
]
SGEMM = Contestant("sgemm", "yardstick", "sgemm_peer.py", ".onnx")


def needletail(precision: str, backend: str, scale: bool = False) -> Contestant:
    """Needletail at one of its precisions. `float32-winograd` is ranked with float32: other engines use Winograd's method unasked."""
    suffix = {"float32": "", "float32-winograd": "-winograd", "bfloat16": "-bf16"}[precision]
    name = "needletail" + ("" if backend == "cpu" else f"-{backend}") + suffix
    group = precision.removesuffix("-winograd")
    return Contestant(name, group, "", ".mlmodel", backend=backend, setting=precision, scale=scale)


def model_file(contestant: Contestant, folder: Path, network: str, batch: int) -> Path:
    """The file to load, converted from the ONNX file when the engine has a format of its own."""
    batched = f"{network}.batch{batch}" if batch > 1 else network
    match contestant.suffix:
        case ".mlmodel":
            return folder / f"{network}.mlmodel"
        case ".ncnn.param":
            return convert_ncnn(folder, network)
        case ".mnn":
            return convert_mnn(folder, batched)
    return folder / f"{batched}{contestant.suffix}"


def tool(name: str) -> str:
    """A converter that pip installed beside this Python, or on the path."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def convert_ncnn(folder: Path, network: str) -> Path:
    """pnnx writes many files beside its input, so it works in a folder of its own."""
    place = folder / "ncnn"
    result = place / f"{network}.ncnn.param"
    source = folder / f"{network}.onnx"
    if stale(result, source):
        place.mkdir(exist_ok=True)
        copy = place / source.name
        copy.write_bytes(source.read_bytes())
        quietly([tool("pnnx"), copy.name, "fp16=0"], place)
    return result


def convert_mnn(folder: Path, batched: str) -> Path:
    result, source = folder / f"{batched}.mnn", folder / f"{batched}.onnx"
    if stale(result, source):
        quietly([tool("mnnconvert"), "-f", "ONNX", "--modelFile", str(source), "--MNNModel", str(result),
                 "--bizCode", "needletail"], folder)
    return result


def stale(result: Path, source: Path) -> bool:
    if not source.exists():
        raise SystemExit(f"{source} is missing: run Benchmarks/make_networks.py first (with --batch for a batch)")
    return not result.exists() or result.stat().st_mtime < source.stat().st_mtime


def quietly(command: list[str], folder: Path) -> None:
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")


def command(contestant: Contestant, program: Path, model: Path, image: Path, threads: int, batch: int,
            output: Path, report: Path) -> list[str]:
    """The command line of its timing process."""
    if contestant.ours:
        return [str(program), "bench", str(model), "--rounds-from-stdin", "--backend", contestant.backend,
                "--threads", str(threads), "--batch", str(batch), "--precision", contestant.setting]
    return [sys.executable, str(PEERS / contestant.script), str(model), "--threads", str(threads), "--batch", str(batch),
            "--input", str(image), "--output", str(output), "--report", str(report)]


def environment(contestant: Contestant, threads: int) -> dict[str, str]:
    own = {"OPENBLAS_NUM_THREADS": str(threads)} if contestant == SGEMM else {"OPENBLAS_NUM_THREADS": "1"}
    return os.environ | own | contestant.environment
