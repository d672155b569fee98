"""Runs the program under test on a machine that may have nothing but a driver."""

import ctypes
import json
import os
import subprocess
from pathlib import Path

import numpy as np

from .record import Skip

#: The OpenCL part of drivers, for machines where no vendors file names it.
DRIVERS = ["libnvidia-opencl.so.1", "libamdocl64.so", "libigdrcl.so"]
PLACES = ["/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/opt/rocm/lib",
          "/usr/lib/x86_64-linux-gnu/intel-opencl"]


class ToolFailure(Exception):
    """The program ended with an error."""


class Needletail:
    """The program with an environment of its own: bundled libraries, a driver, caches under `kept`."""

    def __init__(self, program: Path, scratch: Path, kept: Path):
        self.program, self.scratch = program, scratch
        self.environment = dict(os.environ) | {
            "NEEDLETAIL_CACHE": str(kept.resolve() / "cache"), "POCL_CACHE_DIR": str(kept.resolve() / "pocl"),
            "CUDA_CACHE_PATH": str(kept.resolve() / "driver")}
        folders = [str(program.parent / "lib")]
        if not loads("libOpenCL.so.1"):
            folders.append(str(program.parent / "opencl"))
        folders += self.find_drivers()
        inherited = [os.environ["LD_LIBRARY_PATH"]] if os.environ.get("LD_LIBRARY_PATH") else []
        self.environment["LD_LIBRARY_PATH"] = ":".join(folders + inherited)
        self.device: dict = {}

    def find_drivers(self) -> list[str]:
        """Where no vendors file is installed or named, names the drivers that are there in a folder of its own. Returns their folders."""
        if os.environ.get("OCL_ICD_VENDORS") or any(Path("/etc/OpenCL/vendors").glob("*.icd")):
            return []
        own = self.scratch / "vendors"
        own.mkdir()
        folders = []
        for name in DRIVERS:
            path = next((Path(place) / name for place in PLACES if (Path(place) / name).exists()), None)
            if path or loads(name):
                (own / f"{name}.icd").write_text(f"{path or name}\n")
                folders += [str(path.parent)] if path else []
        self.environment["OCL_ICD_VENDORS"] = str(own)
        return folders

    def run(self, words: list[str], seconds: float) -> str:
        """Standard output. Raises ToolFailure with what standard error says, Skip when it takes longer than `seconds`."""
        command = [str(self.program), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=self.environment)
        except subprocess.TimeoutExpired:
            raise Skip(f"needletail {words[0]} did not end in its time, {seconds:.0f} s") from None
        if done.returncode != 0:
            ended = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
            raise ToolFailure(f"needletail {words[0]}: {ended}: {done.stderr.strip()[-1500:]}")
        return done.stdout

    def json(self, words: list[str], seconds: float) -> dict:
        text = self.run([*words, "--json"], seconds)
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            raise ToolFailure(f"needletail {words[0]}: expected JSON, found {text[:200]!r}") from None

    def choose_device(self, number: int | None, seconds: float) -> dict:
        """The device of that number, else the first GPU, else the first device. Raises ToolFailure when there is none."""
        listed = self.json(["devices"], seconds)
        devices = listed["opencl"]
        if not devices:
            raise ToolFailure(listed.get("openclReason", "no OpenCL device"))
        wanted = [d for d in devices if d["index"] == number] if number is not None else \
            [d for d in devices if d["type"] == "gpu"] + devices
        if not wanted:
            raise ToolFailure(f"OpenCL device {number} does not exist")
        self.device = wanted[0]
        return self.device

    def on_device(self) -> list[str]:
        return ["--backend", "opencl", "--device", str(self.device["index"])]

    def outputs(self, model: Path, inputs: dict[str, Path], flags: list[str], seconds: float) -> dict[str, np.ndarray]:
        """All outputs of one prediction by name, dictionaries in the order of their keys."""
        folder = self.scratch / "outputs"
        for stale in folder.glob("*"):
            stale.unlink()
        words = ["predict", str(model), "--output", str(folder), *flags]
        for name, path in inputs.items():
            words += ["--input", f"{name}={path}"]
        self.run(words, seconds)
        found = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        for path in folder.glob("*.json"):
            value = json.loads(path.read_text())
            if isinstance(value, dict):
                found[path.stem] = np.array([value[key] for key in sorted(value)], dtype=np.float64)
        return found

    def batch_outputs(self, model: Path, batch: int, flags: list[str], seconds: float) -> dict[str, np.ndarray]:
        """All outputs by name of `batch` images at once: those that `bench` makes from its seed, the same on every backend."""
        folder = self.scratch / "batch"
        for stale in folder.glob("*"):
            stale.unlink()
        self.run(["bench", str(model), "--batch", str(batch), "--seconds", "0.001", "--output", str(folder), *flags], seconds)
        return {path.stem: np.load(path) for path in folder.glob("*.npy")}


def loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def image_differences(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], batch: int) -> np.ndarray:
    """Per image of a batch the largest `difference` of any output. Images that the CPU backend makes alike show nothing, and are an error."""
    def image(outputs: dict[str, np.ndarray], index: int) -> dict[str, np.ndarray]:
        for name, values in outputs.items():
            if values.shape[0] != batch:
                raise ToolFailure(f"output '{name}' has {values.shape[0]} images, expected {batch}")
        return {name: values[index] for name, values in outputs.items()}

    if all((values == values[:1]).all() for values in expected.values()):
        raise ToolFailure("the CPU backend's outputs are the same for every image")
    return np.array([difference(image(found, index), image(expected, index)) for index in range(batch)])


def difference(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """The largest difference of any output, relative to that output's largest value; infinite where one is not finite."""
    if found.keys() != expected.keys() or not found:
        raise ToolFailure(f"outputs {sorted(found)}, expected {sorted(expected)}")
    worst = 0.0
    for name, values in expected.items():
        a, b = found[name].astype(np.float64).reshape(-1), values.astype(np.float64).reshape(-1)
        if a.size != b.size:
            raise ToolFailure(f"output '{name}' has {a.size} values, expected {b.size}")
        if not np.isfinite(a).all():
            return float("inf")
        worst = max(worst, float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)))
    return worst
