"""How long engines on OpenCL need to their first prediction, when nothing is compiled yet and when caches have everything.

Each engine starts twice over folders of its own that are empty at first: its program cache, PoCL's, and what tinygrad keeps
of its searches. A driver that caches elsewhere keeps what it has.
"""

import json
import subprocess
from pathlib import Path

from peers import contestants
from peers.contestants import Contestant
from peers.turns import PeerFailure, Player, read_report


def measure(contestant: Contestant, program: Path, model: Path, image: Path, threads: int, scratch: Path, timeout: float) -> dict:
    """Milliseconds from opening the model to the first output, cold and warm; for Needletail also the programs built and taken
    from the cache, and the latency once warm. Raises PeerFailure."""
    folder = scratch / f"first-{contestant.name}-{model.stem}"
    folder.mkdir()
    environment = contestants.environment(contestant, threads) | {
        "NEEDLETAIL_CACHE": str(folder / "needletail"), "POCL_CACHE_DIR": str(folder / "pocl"),
        "CACHEDB": str(folder / "tinygrad.db"), "CUDA_CACHE_PATH": str(folder / "cuda")}
    run = ours if contestant.ours else peers
    cold = run(contestant, program, model, image, threads, folder, environment, timeout)
    return {"cold": cold, "warm": run(contestant, program, model, image, threads, folder, environment, timeout)}


def ours(contestant, program, model, image, threads, folder, environment, timeout) -> dict:
    command = [str(program), "bench", str(model), "--backend", contestant.backend, "--threads", str(threads), "--seconds", "0.3", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired:
        raise PeerFailure(f"{contestant.name}: no first prediction within {timeout:.0f} s") from None
    if done.returncode != 0:
        raise PeerFailure(f"{contestant.name}: status {done.returncode}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return {"first_ms": found["loadAndFirstPredictionMilliseconds"], "programs": found.get("programs"), "latency_ms": found["p50"]}


def peers(contestant, program, model, image, threads, folder, environment, timeout) -> dict:
    output, facts = folder / "output.npy", folder / "report.json"
    facts.unlink(missing_ok=True)
    command = contestants.command(contestant, program, model, image, threads, 1, output, facts)
    player = Player(contestant.name, command, environment, folder / "log", timeout)
    try:
        latency = player.turn(0.1, 0.3)["median"]
    finally:
        player.end()
    return {"first_ms": read_report(facts)["load_and_first_ms"], "programs": None, "latency_ms": latency}
