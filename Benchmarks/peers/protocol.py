"""What every peer's program does: load a model, answer once, then run for as long as it is told, line by line.

    python peers/ENGINE_peer.py MODEL [--threads T] [--batch B] [--input FILE.npy] [--output FILE.npy] [--report FILE.json]

After the first prediction it writes the output and a report, prints `ready`, and then reads lines from standard input.
For each line SECONDS it runs back to back for that long and answers

    MEDIAN P10 COUNT P90 P99

in milliseconds per run. Between lines it waits in a blocking read. The end of standard input ends it.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

#: Where answers go. Engines print while they are imported and loaded, which would spoil the protocol, so everything else
#: that goes to standard output goes to standard error; peers import this module before their engine.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


class Engine:
    """One engine with one model loaded: put an image in, run, take the output out. `run` alone is timed."""

    name = ""
    version = ""

    def load(self, model: Path, threads: int, batch: int) -> None:
        raise NotImplementedError

    def set_input(self, image: np.ndarray) -> None:
        """`image`: float32 (N, C, H, W), kept by the caller as long as the engine lives."""
        raise NotImplementedError

    def run(self) -> None:
        raise NotImplementedError

    def output(self) -> np.ndarray:
        """The last run's output, any shape, values in class order."""
        raise NotImplementedError


def memory(field: str) -> int:
    """Bytes of VmRSS (now) or VmHWM (peak) of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def timed(run: Callable[[], None], seconds: float) -> str:
    """Runs for `seconds`, at least once, and says how it went."""
    durations = []
    clock = time.perf_counter_ns
    end = clock() + int(seconds * 1e9)
    before = clock()
    while True:
        run()
        now = clock()
        durations.append(now - before)
        if now >= end:
            break
        before = now
    low, median, high, highest = np.percentile(np.array(durations) / 1e6, [10, 50, 90, 99])
    return f"{median:.6f} {low:.6f} {len(durations)} {high:.6f} {highest:.6f}"


def serve(run: Callable[[], None]) -> None:
    """Says `ready` and answers line by line until standard input ends."""
    print("ready", file=ANSWERS, flush=True)
    for line in sys.stdin:
        print(timed(run, float(line)), file=ANSWERS, flush=True)


def main(engine: Engine) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--input", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    image = np.load(arguments.input).astype(np.float32)
    image = np.ascontiguousarray(np.repeat(image, arguments.batch, axis=0))
    resident = memory("VmRSS")
    started = time.perf_counter()
    engine.load(arguments.model, arguments.threads, arguments.batch)
    engine.set_input(image)
    engine.run()
    first = time.perf_counter() - started
    if arguments.output:
        np.save(arguments.output, np.asarray(engine.output(), dtype=np.float32))
    if arguments.report:
        arguments.report.write_text(json.dumps({
            "engine": engine.name, "version": engine.version, "load_and_first_ms": first * 1e3,
            "resident_before_load": resident, "resident_peak": memory("VmHWM")}))
    serve(engine.run)
