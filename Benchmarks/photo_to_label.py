"""From a 12-megapixel JPEG to the best class: Needletail against Pillow with ONNX Runtime, engines taking turns.

    python Benchmarks/photo_to_label.py NETWORKS [--photo FILE.jpg] [--network mobilenet_v1] [--threads 2] [--rounds 7] [--seconds 1]

NETWORKS is what make_networks.py wrote. Without --photo a photo of 4000 x 3000 pixels is made from formulas, always the same. The contestants:

    needletail   the file read, decoded at reduced size, cropped, resized and run: `needletail bench --image`
    pillow       Pillow decodes all pixels, ONNX Runtime runs
    draft        Pillow's draft() decodes at reduced size, ONNX Runtime runs

All must name the same class before anything is timed. Also times a 1920x1080 BGRA frame in memory. Prints a Markdown table of the best round's
median, the median over rounds, and each stage.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from peers.turns import Player

HERE = Path(__file__).resolve().parent


def make_photo(path: Path, width: int = 4000, height: int = 3000) -> None:
    """Smooth colours, edges of all directions and fine grain, as photos have them; about 3 bits a pixel."""
    from PIL import Image

    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    grain = np.random.default_rng(1).normal(0, 6, (height, width)).astype(np.float32)
    channels = []
    for phase, (across, down) in enumerate([(0.0021, 0.0013), (0.0017, -0.0024), (-0.0012, 0.0031)]):
        value = 128 + 60 * np.sin(x * across + y * down + phase) + 40 * np.sign(np.sin(((x - 1900) ** 2 + (y - 1400) ** 2) ** 0.5 * 0.013 + phase))
        channels.append(np.clip(value + grain, 0, 255).astype(np.uint8))
    Image.fromarray(np.stack(channels, axis=-1)).save(path, quality=90)


def needletail_json(command: list[str]) -> dict:
    return json.loads(subprocess.run([*command, "--seconds", "0.5", "--json"], check=True, capture_output=True, text=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", type=Path)
    parser.add_argument("--photo", type=Path)
    parser.add_argument("--network", default="mobilenet_v1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--needletail", type=Path, default=HERE.parent / ".build/release/needletail")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return compare(arguments, Path(name))


def compare(arguments: argparse.Namespace, folder: Path) -> int:
    photo = arguments.photo or folder / "photo.jpg"
    if not arguments.photo:
        make_photo(photo)
    threads = ["--threads", str(arguments.threads)]
    model = arguments.networks / f"{arguments.network}.mlmodel"
    bench = [str(arguments.needletail), "bench", str(model), "--backend", "cpu", *threads]
    onnx = str(arguments.networks / f"{arguments.network}.onnx")
    peer = [sys.executable, str(HERE / "peers" / "photo_peer.py"), onnx, str(photo), *threads]
    environment = dict(os.environ)
    commands = {
        "needletail": [*bench, "--image", str(photo), "--rounds-from-stdin"],
        "pillow": [*peer, "--report", str(folder / "pillow.json")],
        "draft": [*peer, "--draft", "--report", str(folder / "draft.json")],
    }
    reports = {"needletail": needletail_json([*bench, "--image", str(photo)])}
    players = {name: Player(name, command, environment, folder / f"{name}.log", 120) for name, command in commands.items()}
    try:
        reports |= {name: json.loads((folder / f"{name}.json").read_text()) for name in ("pillow", "draft")}
        best = {name: report["topIndex"] for name, report in reports.items()}
        if len(set(best.values())) != 1:
            print(f"the contestants name different classes: {best}", file=sys.stderr)
            return 1
        turns = {name: [] for name in players}
        order = list(players)
        for round_index in range(arguments.rounds):
            for name in order[round_index % 3:] + order[:round_index % 3]:
                turns[name].append(players[name].turn(0.2, arguments.seconds))
    finally:
        for player in players.values():
            player.end()
    frame = needletail_json([*bench, "--frame", "1920x1080"])
    report(arguments, photo, reports, turns, frame)
    return 0


def report(arguments: argparse.Namespace, photo: Path, reports: dict, turns: dict, frame: dict) -> None:
    from PIL import Image

    with Image.open(photo) as image:
        size = f"{image.size[0]} x {image.size[1]}"
    others = max(turn["other"] for list_ in turns.values() for turn in list_)
    print(f"{arguments.network}, {arguments.threads} threads, JPEG {size}, {photo.stat().st_size / 1e6:.1f} MB; class {reports['pillow']['topIndex']} "
          f"from all; other programs took up to {others:.0%} of the machine\n")
    print("| contestant | best round, ms | median of rounds | decode | prepare | infer | needletail is |")
    print("|---|---|---|---|---|---|---|")
    best = {name: min(turn["median"] for turn in list_) for name, list_ in turns.items()}
    for name, list_ in turns.items():
        stages = reports[name]["stages"]
        middle = statistics.median(turn["median"] for turn in list_)
        print(f"| {name} | {best[name]:.2f} | {middle:.2f} | {stages['decode']:.2f} | {stages['prepare']:.2f} | {stages['infer']:.2f} | "
              f"{best[name] / best['needletail']:.2f} times as fast |")
    stages = frame["stages"]
    print(f"\nBGRA frame 1920x1080: {frame['p50']:.2f} ms to the class; prepare {stages['prepare']:.3f} ms, "
          f"{stages['prepare'] / stages['infer']:.1%} of the inference's {stages['infer']:.2f} ms")


if __name__ == "__main__":
    sys.exit(main())
