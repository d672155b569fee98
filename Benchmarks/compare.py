"""One interleaved session of Needletail and other engines, on the same networks, inputs and thread counts.

    python Benchmarks/make_networks.py NETWORKS
    python Benchmarks/compare.py NETWORKS [--needletail .build/release/needletail | --peers-only] [--threads 1 2]

Every engine is a process of its own. They start one after another, their outputs are compared with onnxruntime's, and
then they take turns for --rounds rounds, in an order that rotates; an engine whose turn it is not is stopped. What
counts is the median of its best round, and the ratio to the fastest peer of the same precision in the same session.
--opencl compares the OpenCL backend with tinygrad's on the same device instead, and times first runs cold and warm. Results go to
Benchmarks/results/NAME.json, NAME.md and NAME.svg. See Benchmarks/README.md.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import first_runs
import report
from peers import contestants
from peers.contestants import Contestant
from peers.turns import PeerFailure, Player, read_report, wait_for_quiet

ROOT = Path(__file__).resolve().parent
#: Largest allowed difference from onnxruntime, relative to the largest output, at float32.
FLOAT32_TOLERANCE = 1e-3
#: Smallest allowed correlation with onnxruntime's logits at bfloat16: random weights amplify its rounding.
BFLOAT16_CORRELATION = 0.9


def agreement(contestant: Contestant, found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference of any image relative to the largest output. Raises PeerFailure when the outputs are not the same thing."""
    if found.size == 0 or found.size % expected.size:
        raise PeerFailure(f"{contestant.name}: {found.size} outputs, expected {expected.size} for each image")
    found = found.reshape(-1, expected.size).astype(np.float64)
    expected = np.broadcast_to(expected.astype(np.float64), found.shape)
    difference = float(np.abs(found - expected).max() / np.abs(expected).max())
    if contestant.precision == "float32":
        good = difference <= FLOAT32_TOLERANCE
    else:
        logits = [np.log(np.maximum(values, 1e-12)) for values in (found, expected)]
        good = all(np.corrcoef(*rows)[0, 1] >= BFLOAT16_CORRELATION for rows in zip(*logits))
    if not good:
        raise PeerFailure(f"{contestant.name}: its output is {difference:.1e} from onnxruntime's")
    return difference


def our_output(contestant: Contestant, program: Path, model: Path, image: Path, folder: Path) -> np.ndarray:
    """What `needletail predict` gives for the image."""
    raw = folder / "image.npy"
    np.save(raw, np.load(image).astype(np.float32))
    command = [str(program), "predict", str(model), "--input", f"image={raw}", "--output", str(folder), "--backend",
               contestant.backend]
    command += ["--precision", contestant.setting]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise PeerFailure(f"{' '.join(command)}: status {run.returncode}: {run.stderr.strip()}")
    return np.load(folder / "output.npy")


class Session:
    """Runs one network at one thread count after another and keeps every number."""

    def __init__(self, arguments, chosen: list[Contestant], scratch: Path):
        self.arguments, self.chosen, self.scratch = arguments, chosen, scratch
        self.image = Path()
        self.expected: np.ndarray | None = None

    def start(self, contestant: Contestant, network: str, threads: int) -> tuple[Player, dict]:
        """A running player and the facts of its start."""
        batch, program = self.arguments.batch, self.arguments.needletail
        model = contestants.model_file(contestant, self.arguments.networks, network, batch)
        output, facts = self.scratch / "output.npy", self.scratch / "report.json"
        for stale in (output, facts):
            stale.unlink(missing_ok=True)
        command = contestants.command(contestant, program, model, self.image, threads, batch, output, facts)
        player = Player(contestant.name, command, contestants.environment(contestant, threads),
                        self.scratch / f"{contestant.name}.log", self.arguments.start_timeout)
        told = read_report(facts)
        try:
            distance = self.compare_output(contestant, model, output)
        except PeerFailure:
            player.end()
            raise
        return player, {
            "version": told.get("version", ""), "difference": distance, "start_ms": player.start_ms,
            "load_and_first_ms": told.get("load_and_first_ms", player.start_ms),
            "memory_before": told.get("resident_before_load", 0), "memory_ready": player.peak_memory}

    def compare_output(self, contestant: Contestant, model: Path, output: Path) -> float | None:
        if contestant == contestants.SGEMM:
            return None
        if contestant.ours:
            found = our_output(contestant, self.arguments.needletail, model, self.image, self.scratch)
        else:
            found = np.load(output)
        if self.expected is None:
            if contestant.name != "onnxruntime":
                return None
            self.expected = found.reshape(self.arguments.batch, -1)[0]
        return agreement(contestant, found, self.expected)

    def first_runs(self, network: str, threads: int) -> dict:
        """Cold and warm starts of the engines on OpenCL: name to milliseconds."""
        results = {}
        for contestant in self.chosen:
            if contestant.scale or contestant == contestants.SGEMM:
                continue
            model = contestants.model_file(contestant, self.arguments.networks, network, 1)
            image = self.arguments.networks / f"{network}.input.npy"
            try:
                results[contestant.name] = first_runs.measure(
                    contestant, self.arguments.needletail, model, image, threads, self.scratch, self.arguments.start_timeout)
            except PeerFailure as failure:
                print(failure, file=sys.stderr, flush=True)
                results[contestant.name] = {"failure": str(failure).splitlines()[0]}
        return results

    def measure(self, network: str, threads: int) -> dict:
        """All engines on one network: name to facts and rounds."""
        self.image = self.arguments.networks / f"{network}.input.npy"
        self.expected = None
        players, results = [], {}
        try:
            for contestant in self.chosen:
                self.begin(contestant, network, threads, players, results)
            for number in range(self.arguments.rounds):
                shift = number % max(1, len(players))
                for player in players[shift:] + players[:shift]:
                    self.take_turn(player, players, results)
            for player in players:
                results[player.name]["memory_peak"] = player.peak_memory
        finally:
            for player in players:
                player.end()
        return results

    def take_turn(self, player: Player, players: list, results: dict) -> None:
        """One turn; an engine that fails in it is reported and leaves."""
        wait_for_quiet(0.1, self.arguments.quiet)
        try:
            turn = player.turn(self.arguments.warm_seconds, self.arguments.seconds)
            results[player.name]["rounds"].append(turn)
        except PeerFailure as failure:
            print(failure, file=sys.stderr, flush=True)
            results[player.name] = {"failure": str(failure).splitlines()[0]}
            players.remove(player)

    def begin(self, contestant: Contestant, network: str, threads: int, players: list, results: dict) -> None:
        """Starts a contestant --starts times and keeps the last process; one that fails is reported and left out."""
        facts: dict = {}
        for remaining in reversed(range(self.arguments.starts)):
            try:
                player, found = self.start(contestant, network, threads)
            except PeerFailure as failure:
                print(f"{network}, {threads} threads: {failure}", file=sys.stderr, flush=True)
                results[contestant.name] = {"failure": str(failure).splitlines()[0]}
                return
            for name in ("start_ms", "load_and_first_ms"):
                found[name] = min(found[name], facts.get(name, found[name]))
            facts = found
            if remaining:
                player.end()
        players.append(player)
        results[contestant.name] = facts | {"group": contestant.group, "ours": contestant.ours, "rounds": []}


def machine() -> dict:
    """What the numbers were measured on."""
    text = Path("/proc/cpuinfo").read_text()
    model = next((line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")), "unknown")
    flags = next((line.split(":")[1].split() for line in text.splitlines() if line.startswith("flags")), [])
    wanted = ["avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8"]
    return {"processor": model, "cores": os.cpu_count(), "features": [flag for flag in wanted if flag in flags],
            "system": f"{platform.system()} {platform.release()}", "load_before": os.getloadavg()[0]}


def opencl_device(program: Path) -> dict:
    """The device that both engines take: the only one, so that there is no doubt. Raises SystemExit otherwise."""
    found = json.loads(subprocess.run([str(program), "devices", "--json"], capture_output=True, text=True, check=True).stdout)
    devices = found["opencl"]
    if len(devices) != 1:
        listed = ", ".join(f"{device['name']} ({device['platform']})" for device in devices) or found.get("openclReason", "none")
        raise SystemExit(f"--opencl needs exactly one OpenCL device; let OCL_ICD_VENDORS name a folder with one driver's .icd file. Found: {listed}")
    return {key: devices[0][key] for key in ("name", "platform", "driver", "version")}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", type=Path, help="the folder that make_networks.py wrote")
    parser.add_argument("--needletail", type=Path, default=ROOT.parent / ".build" / "release" / "needletail")
    parser.add_argument("--peers-only", action="store_true", help="leave Needletail out")
    names = [contestant.name for contestant in contestants.PEER_CONTESTANTS]
    parser.add_argument("--peers", nargs="*", choices=names, default=names, help="onnxruntime always takes part")
    parser.add_argument("--only", nargs="+", help="networks (default: all in networks.json)")
    parser.add_argument("--threads", type=int, nargs="+", help="(default: 1 2; with --opencl one per core, which is what drivers take)")
    parser.add_argument("--precision", nargs="+", choices=["float32", "float32-winograd", "bfloat16"],
                        default=["float32", "float32-winograd", "bfloat16"],
                        help="Needletail's precisions")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn")
    parser.add_argument("--warm-seconds", type=float, default=0.15, help="untimed start of a turn")
    parser.add_argument("--starts", type=int, default=3, help="processes started per engine; the best start counts")
    parser.add_argument("--start-timeout", type=float, default=180)
    parser.add_argument("--quiet", type=float, default=0, metavar="SECONDS",
                        help="wait up to so long before each turn until other programs use less than a tenth of the machine")
    parser.add_argument("--peak", type=float, help="measured peak of one core in GFLOP/s, for percentages")
    parser.add_argument("--opencl", action="store_true",
                        help="compare on the first OpenCL device of the drivers that OCL_ICD_VENDORS names")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--name", help="of the result files (default: cpu or opencl, with the batch)")
    arguments = parser.parse_args()
    arguments.threads = arguments.threads or ([os.cpu_count()] if arguments.opencl else [1, 2])
    if arguments.rounds < 7:
        print("fewer than seven rounds: good for a try, not for a result", file=sys.stderr)
    if not arguments.peers_only and not arguments.needletail.exists():
        parser.error(f"{arguments.needletail} is missing: build it, or give --peers-only")
    return arguments


def choose(arguments) -> list[Contestant]:
    """onnxruntime first, because the others are compared with it."""
    ours = []
    if arguments.opencl:
        if not arguments.peers_only:
            ours = [contestants.needletail("float32", "opencl"), contestants.needletail("float32", "cpu", scale=True)]
        return [*contestants.OPENCL_CONTESTANTS, *ours, contestants.SGEMM]
    if not arguments.peers_only:
        ours = [contestants.needletail(precision, "cpu") for precision in arguments.precision]
    peers = [c for c in contestants.PEER_CONTESTANTS if c.name == "onnxruntime" or c.name in arguments.peers]
    return [*peers, *ours, contestants.SGEMM]


def main() -> int:
    arguments = parse()
    networks = json.loads((arguments.networks / "networks.json").read_text())
    names = arguments.only or list(networks)
    record = {"date": datetime.date.today().isoformat(), "machine": machine(), "batch": arguments.batch,
              "rounds": arguments.rounds, "seconds": arguments.seconds, "opencl": arguments.opencl, "peak": arguments.peak,
              "networks": {name: networks[name] for name in names}, "results": []}
    if arguments.opencl and not arguments.peers_only:
        record["device"] = opencl_device(arguments.needletail)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        session = Session(arguments, choose(arguments), Path(scratch))
        for threads in arguments.threads:
            for network in names:
                engines = session.measure(network, threads)
                failed = failed or any("failure" in facts for facts in engines.values())
                entry = {"network": network, "threads": threads, "engines": engines}
                if arguments.opencl and not arguments.peers_only:
                    entry["first_runs"] = session.first_runs(network, threads)
                    failed = failed or any("failure" in facts for facts in entry["first_runs"].values())
                record["results"].append(entry)
                print(report.progress(network, threads, engines), flush=True)
    record["machine"]["load_after"] = os.getloadavg()[0]
    kind = "opencl" if arguments.opencl else "cpu"
    name = arguments.name or kind + (f"-batch{arguments.batch}" if arguments.batch > 1 else "")
    arguments.results.mkdir(parents=True, exist_ok=True)
    (arguments.results / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    report.write(record, arguments.results, name)
    for line in report.opencl_summary(record):
        print(line)
    print(f"wrote {arguments.results / name}.md, .json and .svg")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
