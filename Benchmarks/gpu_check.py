"""Checks and times Needletail on a machine that has nothing but a GPU driver with OpenCL, and Python with PyTorch.

    swift build -c release --static-swift-stdlib --product needletail
    python Benchmarks/gpu_check.py pack needletail-gpu-check.tar.gz      # here: the build, its libraries, models and scripts
    python3 gpu_check.py run --output result.json                       # there, in the unpacked folder

`run` makes the benchmark networks, compares every model's outputs on the device with the CPU backend's and PyTorch's, and those of
every image of a batch of 64 with the CPU backend's, times batches of 1 and 64 in float32 and float16 beside PyTorch (channels-last,
CUDA graphs where there is CUDA), tunes the device's tiles, and compares and times again what was tuned. All of it ends within --seconds,
and the file holds after every step what there is. Exit status 1 when an entry failed, or when nothing was compared or nothing timed.
See Benchmarks/README.md.
"""

import argparse
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

#: Networks by what is asked first.
NETWORKS = ["mobilenet_v1", "mini_xception", "mobilenet_v2", "resnet50", "squeezenet_1_1"]
#: Largest difference of an output, relative to its largest value. float32: sums in another order over a deep network.
#: float16: values of 11 bits between layers, over networks whose random weights amplify what is rounded.
TOLERANCES = {"float32": 1e-3, "float16": 5e-2}
#: By which share of the time a stage is over. What one leaves, the next may use.
#: Without networks there is nothing to time, so making them may take long.
STAGES = {"prepare": 0.35, "check": 0.42, "time": 0.6, "tune": 0.78, "check again": 0.84, "time again": 0.97}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    repository = HERE.parent
    packing = verbs.add_parser("pack", help="make the folder or .tar.gz to copy to the machine")
    packing.add_argument("target", type=Path)
    packing.add_argument("--needletail", type=Path, default=repository / ".build" / "release" / "needletail",
                         help="the statically linked program")
    packing.add_argument("--models", type=Path, nargs="*", default=sorted((repository / "Models").glob("*.mlmodel")),
                         help="models to check beside the benchmark networks")
    running = verbs.add_parser("run", help="check and measure")
    packed = HERE / "build" / "needletail"
    running.add_argument("--needletail", type=Path,
                         default=packed if packed.exists() else repository / ".build" / "release" / "needletail")
    running.add_argument("--output", type=Path, default=Path("gpu.json"))
    running.add_argument("--seconds", type=float, default=450, help="for everything (default 450)")
    running.add_argument("--cache", type=Path, help="keep compiled programs and tuned tiles there (default: none are kept, all are made anew)")
    running.add_argument("--device", type=int, help="the OpenCL device (default: the first GPU, else the first device)")
    running.add_argument("--networks", nargs="*", choices=NETWORKS, default=NETWORKS)
    running.add_argument("--models", type=Path, nargs="*",
                         default=sorted((HERE if packed.exists() else repository).glob("[mM]odels/*.mlmodel")))
    running.add_argument("--batches", type=int, nargs="+", default=[1, 64])
    running.add_argument("--turn", type=float, default=0.8, metavar="SECONDS", help="of one timing (default 0.8)")
    return parser.parse_args()


def machine() -> dict:
    """What the numbers were measured on."""
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    facts = {"processor": cpu, "cores": len(os.sched_getaffinity(0)), "system": f"{platform.system()} {platform.release()}",
             "python": platform.python_version()}
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,memory.total", "--format=csv,noheader"]
        facts["nvidia"] = subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        pass
    return facts


class Check:
    """The stages, in order, over one record."""

    def __init__(self, arguments, scratch: Path):
        # Imported here, so that `pack` runs without NumPy.
        from gpu.needletail import Needletail
        from gpu.record import Budget, Record
        from gpu.torch_peer import TorchPeer

        self.arguments, self.scratch = arguments, scratch
        self.budget = Budget(arguments.seconds)
        self.budget.until(STAGES["prepare"], 2 + len(arguments.networks))
        self.tool = Needletail(arguments.needletail, scratch, arguments.cache or scratch)
        self.torch = TorchPeer(scratch)
        self.record = Record(arguments.output, self.budget, {
            "machine": machine(), "tolerances": TOLERANCES,
            "comparison": "largest difference of an output, relative to its largest value"})
        self.pytorch: dict = {}
        self.networks: list[str] = []
        #: Networks, batches and precisions whose tiles have been tuned.
        self.tuned: set[tuple[str, int, str]] = set()
        #: What the CPU backend makes of a network's batch, by name and batch.
        self.batch_expectations: dict[tuple[str, int], dict] = {}

    def run(self) -> int:
        ended_by = None
        try:
            device = self.record.add({"stage": "device"}, self.find_device)
            if device["status"] == "measured":
                self.pytorch = self.record.add({"stage": "pytorch"}, lambda left: self.torch.ask(left(), do="facts"))
                for name in self.arguments.networks:
                    made = self.record.add({"stage": "prepare", "model": name},
                                           lambda left, name=name: self.torch.ask(left(), do="make", network=name))
                    self.networks += [name] if made["status"] == "measured" else []
                self.measure()
        except KeyboardInterrupt as interruption:
            ended_by = str(interruption) or "SIGINT"
        finally:
            self.torch.end()
            self.budget.until(1)
            self.record.finish(ended_by)
        failed, skipped = self.record.count("failed"), self.record.count("skipped")
        missing = [stage for stage in ("check", "time") if not self.record.count("measured", stage)]
        print(f"wrote {self.arguments.output} after {self.budget.spent():.0f} s, {failed} of "
              f"{len(self.record.content['entries'])} entries failed, {skipped} were skipped"
              + "".join(f"; no '{stage}' was measured" for stage in missing) + (f"; ended by {ended_by}" if ended_by else ""))
        return 1 if failed or missing or ended_by else 0

    def find_device(self, left) -> dict:
        device = self.tool.choose_device(self.arguments.device, left())
        self.record.content["device"] = device
        return {"name": device["name"], "driver": device["driver"]}

    def measure(self) -> None:
        """Everything with the default tiles, then tuning, then everything with the tuned ones."""
        models = [self.model(name) for name in self.networks] + self.arguments.models
        # The smallest batch first: on a slow device a large one takes the time of many small ones.
        batches, precisions = sorted(self.arguments.batches), list(TOLERANCES)
        work = [(batch, name, precision) for batch in batches for name in self.networks for precision in precisions]
        batched = [(batch, name, precision) for batch, name, precision in work if batch > 1]
        # How many of the precisions there are.
        share = len([precision for precision in precisions if self.has(precision)]) / len(precisions)
        beside = 1 if self.pytorch.get("cuda_device") else share
        for tiles, stages in (("default", ("check", "time")), ("tuned", ("check again", "time again"))):
            if tiles == "tuned":
                self.budget.until(STAGES["tune"], len(work) * share)
                self.tune()
            self.budget.until(STAGES[stages[0]], (len(models) * len(precisions) + len(batched)) * share)
            for model in models:
                for precision in precisions:
                    self.check(model, precision, tiles)
            for batch, name, precision in batched:
                self.check_batch(name, batch, precision, tiles)
            self.budget.until(STAGES[stages[1]], len(work) * (share + (beside if tiles == "default" else 0)))
            for batch, name, precision in work:
                self.time(name, batch, precision, tiles)

    def has(self, precision: str) -> bool:
        return precision != "float16" or self.tool.device["halfPrecision"]

    def require(self, precision: str, tiles: str = "default", name: str | None = None, batch: int | None = None) -> None:
        """Leaves out what the device lacks, and what would repeat the default tiles' entry."""
        from gpu.record import Skip

        if not self.has(precision):
            raise Skip(f"'{self.tool.device['name']}' has no half precision (cl_khr_fp16)")
        if tiles == "tuned" and not any(kept == precision and name in (None, model) and batch in (None, images)
                                        for model, images, kept in self.tuned):
            raise Skip(f"nothing of this was tuned in {precision}")

    def model(self, name: str) -> Path:
        return self.scratch / f"{name}.mlmodel"

    # Checking

    def check(self, model: Path, precision: str, tiles: str) -> None:
        from gpu.needletail import ToolFailure, difference

        def compare(left) -> dict:
            inputs, expected = self.expectation(model, left)
            flags = [*self.tool.on_device(), "--precision", precision]
            found = difference(self.tool.outputs(model, inputs, flags, left()), expected)
            if not found <= TOLERANCES[precision]:
                raise ToolFailure(f"an output is {found:.2e} from the CPU backend's, at most {TOLERANCES[precision]:.0e} is allowed")
            return {"difference": found}

        self.record.add({"stage": "check", "model": model.stem, "precision": precision, "tiles": tiles}, compare,
                        requires=lambda: self.require(precision, tiles))

    def check_batch(self, name: str, batch: int, precision: str, tiles: str) -> None:
        """Each image of the batch that is timed, by its own largest value."""
        from gpu.needletail import ToolFailure, image_differences

        def compare(left) -> dict:
            known = self.batch_expectations
            if (name, batch) not in known:
                known[name, batch] = self.tool.batch_outputs(self.model(name), batch, ["--backend", "cpu"], left())
            flags = [*self.tool.on_device(), "--precision", precision]
            found = image_differences(self.tool.batch_outputs(self.model(name), batch, flags, left()), known[name, batch], batch)
            worst = int(found.argmax())
            if not found[worst] <= TOLERANCES[precision]:
                raise ToolFailure(f"image {worst} of {batch} is {found[worst]:.2e} from the CPU backend's, "
                                  f"at most {TOLERANCES[precision]:.0e} is allowed")
            return {"difference": float(found[worst]), "images": batch}

        self.record.add({"stage": "check", "model": name, "batch": batch, "precision": precision, "tiles": tiles}, compare,
                        requires=lambda: self.require(precision, tiles, name, batch))

    def expectation(self, model: Path, left) -> tuple[dict, dict]:
        """Inputs of a model and what the CPU backend makes of them, computed once. A benchmark network's are first compared with PyTorch's."""
        import numpy as np

        from gpu.needletail import ToolFailure, difference

        known = getattr(self, "expectations", {})
        if model not in known:
            inputs = {}
            for number, feature in enumerate(self.tool.json(["describe", str(model)], left())["inputs"]):
                inputs[feature["name"]] = self.input(model, number, feature)
            expected = self.tool.outputs(model, inputs, ["--backend", "cpu"], left())
            reference = self.scratch / f"{model.stem}.torch.npy"
            if reference.exists():
                apart = difference(expected, {"output": np.load(reference)})
                if apart > TOLERANCES["float32"]:
                    raise ToolFailure(f"the CPU backend's output is {apart:.2e} from PyTorch's")
            known[model] = (inputs, expected)
            self.expectations = known
        return known[model]

    def input(self, model: Path, number: int, feature: dict) -> Path:
        """A file of random values for an input: 0-255 for an image."""
        import numpy as np

        made = self.scratch / f"{model.stem}.input.npy"
        if model.stem in self.networks:
            return made
        random = np.random.default_rng(number)
        if "width" in feature:
            channels = 1 if feature["colorSpace"] == "grayscale" else 3
            values = random.integers(0, 256, (1, channels, feature["height"], feature["width"])).astype(np.float32)
        else:
            values = random.uniform(-1, 1, feature["shape"]).astype(np.float32)
        path = self.scratch / f"{model.stem}.{number}.npy"
        np.save(path, values)
        return path

    # Timing

    def time(self, name: str, batch: int, precision: str, tiles: str) -> None:
        entry = {"stage": "time", "model": name, "batch": batch, "precision": precision}
        ours = self.record.add(entry | {"engine": "needletail", "tiles": tiles},
                               lambda left: self.time_needletail(name, batch, precision, left), needs=4 * self.arguments.turn,
                               requires=lambda: self.require(precision, tiles, name, batch))
        if tiles == "default":
            # Beside a GPU half precision is of interest even where the OpenCL device lacks it; a processor takes minutes for it.
            self.record.add(
                entry | {"engine": "pytorch"}, lambda left: self.torch.ask(
                    left(), do="time", network=name, batch=batch, precision=precision, seconds=self.arguments.turn),
                needs=4 * self.arguments.turn, requires=lambda: None if self.pytorch.get("cuda_device") else self.require(precision))
        elif ours["status"] == "measured":
            self.compare_times(ours)

    def time_needletail(self, name: str, batch: int, precision: str, left) -> dict:
        words = ["bench", str(self.model(name)), *self.tool.on_device(), "--batch", str(batch), "--precision", precision,
                 "--seconds", str(self.arguments.turn / 2), "--profile"]
        found = self.tool.json(words, left())
        between = found.get("betweenKernelsMilliseconds", 0.0)
        device_ms = sum(row["milliseconds"] for row in found["profile"]) + between
        operations = sum(row["flops"] for row in found["profile"])
        slowest = [found["profile"][index] for index in found["slowestSteps"]]
        kept = ("layers", "kernel", "output", "milliseconds", "gigaflopsPerSecond", "gigabytesPerSecond", "percentOfPeak", "nearestPeak")
        return {"request_ms": found["p50"], "request_fastest_ms": found["fastest"], "device_ms": device_ms, "between_kernels_ms": between,
                "load_and_first_ms": found["loadAndFirstPredictionMilliseconds"], "programs": found.get("programs"),
                "gigaflops_per_second": operations / device_ms / 1e6 if device_ms else 0.0, "peaks": found["peaks"],
                "fallbacks": found["fallbacks"], "slowest": [{key: row[key] for key in kept if key in row} for row in slowest]}

    def compare_times(self, ours: dict) -> None:
        """Adds to a tuned timing how it stands to PyTorch's and to the default tiles'."""
        same = [entry for entry in self.record.content["entries"] if entry["stage"] == "time" and entry["status"] == "measured"
                and all(entry[key] == ours[key] for key in ("model", "batch", "precision"))]
        for entry in same:
            if entry is not ours:
                key = "speed_over_pytorch" if entry["engine"] == "pytorch" else "speed_over_default_tiles"
                ours[key] = {kind: entry[kind] / ours[kind] for kind in ("device_ms", "request_ms")}

    # Tuning

    def tune(self) -> None:
        """Every network at every batch and precision, those whose shapes are measured soonest first."""
        from gpu.needletail import ToolFailure

        work = [(name, batch, precision) for batch in sorted(self.arguments.batches) for precision in TOLERANCES for name in self.networks]
        for name, batch, precision in work:
            def measured(left, name=name, batch=batch, precision=precision) -> dict:
                found = self.tool.json(
                    ["tune", str(self.model(name)), "--device", str(self.tool.device["index"]), "--batch", str(batch),
                     "--precision", precision, "--seconds", f"{self.budget.share() * 0.7:.2f}"], left())
                if not found["findings"]:
                    raise ToolFailure("no shape was measured in the time given")
                before, after = (sum(finding[key] for finding in found["findings"]) for key in ("before", "after"))
                return {"before_ms": before, "after_ms": after, "network_ms": found.get("network"), "measured_shapes": len(found["findings"]), "shapes": found["shapes"]}

            found = self.record.add({"stage": "tune", "model": name, "batch": batch, "precision": precision}, measured,
                                    requires=lambda precision=precision: self.require(precision))
            if found["status"] == "measured":
                self.tuned.add((name, batch, precision))


def main() -> int:
    arguments = parse()
    if arguments.verb == "pack":
        from gpu import bundle

        print(bundle.pack(arguments.needletail, arguments.target, arguments.models))
        return 0
    if not arguments.needletail.exists():
        sys.exit(f"{arguments.needletail} is missing")
    if importlib.util.find_spec("numpy") is None or importlib.util.find_spec("torch") is None:
        sys.exit(f"{sys.executable} has no PyTorch with NumPy; run this with a Python that has")
    # What has been found is written whoever ends this; nohup's programs outlive their terminal.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    scratch = None
    try:
        scratch = Path(tempfile.mkdtemp(prefix="needletail-gpu-"))
        return Check(arguments, scratch).run()
    except OSError as error:
        sys.exit(f"nothing was measured: {error}")
    except KeyboardInterrupt:
        return 1
    finally:
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)


def interrupt(number: int, _) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)


if __name__ == "__main__":
    sys.exit(main())
