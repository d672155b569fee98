"""Turns a session of compare.py into a Markdown file and an SVG plot."""

import math
import statistics
from pathlib import Path

import plot
from peers.contestants import SGEMM_MULTIPLY_ADDS

#: Groups of engines that are ranked with each other, and their titles.
GROUPS = {"float32": "float32", "bfloat16": "bfloat16", "float32 on the CPU": "float32 on the CPU, for scale"}


def finished(engines: dict) -> dict:
    """The engines that were timed, without the yardstick."""
    return {name: facts for name, facts in engines.items() if facts.get("rounds") and facts["group"] in GROUPS}


def best(facts: dict) -> float:
    """The best round's median, ms."""
    return min(turn["median"] for turn in facts["rounds"])


def typical(facts: dict) -> float:
    """The median over rounds of their medians, ms."""
    return statistics.median(turn["median"] for turn in facts["rounds"])


def over_rounds(facts: dict, name: str) -> float | None:
    """The median over rounds of one of a turn's numbers, where the engine tells it."""
    values = [turn[name] for turn in facts["rounds"] if name in turn]
    return statistics.median(values) if values else None


def fastest_peer(engines: dict, group: str, number) -> tuple[str, float] | None:
    """Name and time of the fastest engine that is not Needletail, of one group."""
    times = [(number(f), name) for name, f in finished(engines).items() if not f["ours"] and f["group"] == group]
    return (min(times)[1], min(times)[0]) if times else None


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def progress(network: str, threads: int, engines: dict) -> str:
    """One line for the terminal."""
    parts = [f"{name} {best(facts):.3f}" for name, facts in engines.items() if facts.get("rounds")]
    return f"{network}, {threads} threads, best ms: " + ", ".join(parts)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]]
    return "\n".join(lines) + "\n"


def times(record: dict, threads: int, group: str) -> str:
    """Networks by engines: best-round median and, in brackets, the median over rounds; ratios under them."""
    entries = [entry for entry in record["results"] if entry["threads"] == threads]
    names = list(dict.fromkeys(name for entry in entries for name, facts in finished(entry["engines"]).items()
                               if facts["group"] == group))
    if not names:
        return ""
    ours = {name for entry in entries for name, facts in finished(entry["engines"]).items() if facts["ours"]}
    rows, ratios = [], {name: [] for name in names}
    typical_ratios = {name: [] for name in names}
    for entry in entries:
        engines = finished(entry["engines"])
        row = [entry["network"]]
        for name in names:
            row.append(f"{best(engines[name]):.3f} ({typical(engines[name]):.3f})" if name in engines else "failed")
        for number, target in ((best, ratios), (typical, typical_ratios)):
            peer = fastest_peer(entry["engines"], group, number)
            for name in names:
                if peer and name in engines:
                    target[name].append(peer[1] / number(engines[name]))
        mine = [name for name in names if name in ours and name in engines]
        peer = fastest_peer(entry["engines"], group, best)
        speeds = " / ".join(f"{peer[1] / best(engines[name]):.2f}" for name in mine) if peer else ""
        row.append(f"{speeds} ({peer[0]})" if speeds else peer[0] if peer else "")
        rows.append(row)
    for title, source in (("geometric mean of speed, fastest peer = 1", ratios), ("the same, of medians", typical_ratios)):
        complete = [f"{geometric_mean(source[n]):.2f}" if len(source[n]) == len(entries) else "" for n in names]
        rows.append([title, *complete, ""])
    mine = [name for name in names if name in ours]
    last = f"speed of {' / '.join(mine)}, fastest peer = 1" if mine else "fastest peer"
    return f"### {GROUPS[group]}, {plural(threads)}\n\n" + table(["ms", *names, last], rows) + "\n"


def plural(threads: int) -> str:
    return f"{threads} thread" + ("s" if threads != 1 else "")


def arithmetic(record: dict, threads: int) -> str:
    """GFLOP/s and the percentage of the yardstick."""
    entries = [entry for entry in record["results"] if entry["threads"] == threads]
    names = list(dict.fromkeys(name for entry in entries for name in finished(entry["engines"])))
    rows = []
    for entry in entries:
        operations = 2 * record["networks"][entry["network"]]["multiply_adds"] * record["batch"]
        yard = entry["engines"].get("sgemm", {})
        if record["peak"]:
            peak = record["peak"] * threads
        else:
            peak = 2 * SGEMM_MULTIPLY_ADDS / best(yard) / 1e6 if yard.get("rounds") else None
        row = [entry["network"], f"{peak:.0f}" if peak else ""]
        for name in names:
            facts = finished(entry["engines"]).get(name)
            rate = operations / best(facts) / 1e6 if facts else None
            row.append("" if rate is None else f"{rate:.0f}" + (f" ({100 * rate / peak:.0f} %)" if peak else ""))
        rows.append(row)
    peak_name = "peak, as given" if record["peak"] else "NumPy's matrix product"
    return f"### GFLOP/s, {plural(threads)}\n\n" + table(["GFLOP/s", peak_name, *names], rows) + "\n"


#: The engines of `compare.py --opencl`.
OPENCL, TINYGRAD, CPU = "needletail-opencl", "tinygrad-opencl", "needletail"
#: The networks whose mean is held against tinygrad.
SMALL = ("mobilenet_v1", "mobilenet_v2", "mini_xception")


def opencl_ratios(record: dict, threads: int) -> list[list]:
    """Per network: its name, our ms on the device, how many times as fast as tinygrad, how many times our CPU backend's time. The
    last rows are geometric means, over SMALL and over all networks that have both."""
    rows = []
    for entry in record["results"]:
        engines = finished(entry["engines"])
        if entry["threads"] == threads and {OPENCL, TINYGRAD, CPU} <= engines.keys():
            ms = best(engines[OPENCL])
            rows.append([entry["network"], ms, best(engines[TINYGRAD]) / ms, ms / best(engines[CPU])])
    if not rows:
        return []
    groups = [("geometric mean", rows)]
    small = [row for row in rows if row[0] in SMALL]
    if small and len(small) < len(rows):
        groups.insert(0, (f"geometric mean of {', '.join(row[0] for row in small)}", small))
    return rows + [[title, None, *(geometric_mean([row[column] for row in group]) for column in (2, 3))] for title, group in groups]


def opencl_summary(record: dict) -> list[str]:
    """Lines for the terminal; none for a session without OpenCL."""
    lines = []
    for threads in dict.fromkeys(entry["threads"] for entry in record["results"]):
        for name, ms, speed, share in opencl_ratios(record, threads):
            shown = f" {ms:.3f} ms," if ms is not None else ""
            lines.append(f"{name}, {plural(threads)}:{shown} {speed:.2f} times as fast as tinygrad, {share:.2f} times the CPU backend's time")
    return lines


def opencl(record: dict) -> str:
    """Ratios and first runs of a session on OpenCL."""
    text = []
    for threads in dict.fromkeys(entry["threads"] for entry in record["results"]):
        rows = [[name, "" if ms is None else f"{ms:.3f}", f"{speed:.2f}", f"{share:.2f}"]
                for name, ms, speed, share in opencl_ratios(record, threads)]
        if rows:
            header = ["", "Needletail, ms", "times as fast as tinygrad", f"times the CPU backend's time, {plural(threads)}"]
            text.append(f"### OpenCL, {plural(threads)}\n\nBest rounds.\n\n" + table(header, rows))
    rows = []
    for entry in record["results"]:
        for name, runs in entry.get("first_runs", {}).items():
            if "failure" in runs:
                continue
            cold, warm = runs["cold"], runs["warm"]
            programs = [("" if run["programs"] is None else f"{run['programs']['built']} / {run['programs']['cached']}") for run in (cold, warm)]
            rows.append([entry["network"], name, f"{cold['first_ms']:.0f}", programs[0], f"{warm['first_ms']:.0f}", programs[1],
                         f"{warm['latency_ms']:.3f}"])
    if rows:
        header = ["network", "engine", "first run, empty caches: ms", "built / cached", "next start: ms", "built / cached", "latency then, ms"]
        text.append("### First runs\n\nFrom opening the model to the first prediction; programs compiled from source and taken from the "
                    "cache. Caches are the engine's own and PoCL's.\n\n" + table(header, rows))
    return "\n".join(text)


def latency(record: dict) -> str:
    """Percentiles, rate, load and memory of every engine."""
    rows = []
    for entry in record["results"]:
        for name, facts in finished(entry["engines"]).items():
            tail = [over_rounds(facts, "median"), over_rounds(facts, "p90"), over_rounds(facts, "p99")]
            own = facts["memory_ready"] - facts["memory_before"]
            rows.append([
                entry["network"], str(entry["threads"]), name,
                *("" if value is None else f"{value:.3f}" for value in tail),
                f"{over_rounds(facts, 'cpu_ms'):.3f}", f"{1e3 * record['batch'] / best(facts):.1f}",
                f"{facts['load_and_first_ms']:.1f}", f"{facts['start_ms']:.0f}",
                f"{own / 1e6:.1f}", f"{facts['memory_peak'] / 1e6:.1f}",
                "" if facts["difference"] is None else f"{facts['difference']:.0e}"])
    header = ["network", "threads", "engine", "p50 ms", "p90 ms", "p99 ms", "processor ms", "images/s",
              "load + first ms", "start to ready ms",
              "peak MB of load + first", "peak MB of the process", "largest difference"]
    return table(header, rows)


def markdown(record: dict, name: str) -> str:
    machine = record["machine"]
    threads = list(dict.fromkeys(entry["threads"] for entry in record["results"]))
    versions = {n: f["version"] for entry in record["results"] for n, f in entry["engines"].items() if f.get("version")}
    others = [turn["other"] for entry in record["results"] for f in entry["engines"].values() for turn in f.get("rounds", [])]
    failures = [f"* {entry['network']}, {plural(entry['threads'])}, {n}: {f['failure']}"
                for entry in record["results"] for n, f in entry["engines"].items() if "failure" in f]
    text = [
        f"# Speed, {record['date']}\n",
        f"{machine['processor']}, {machine['cores']} cores ({', '.join(machine['features'])}), {machine['system']}. Batch "
        f"{record['batch']}, {record['rounds']} rounds of {record['seconds']} s in turns. Other programs used "
        f"{100 * statistics.median(others or [0]):.0f} % of the machine in the median turn and "
        f"{100 * max(others or [0]):.0f} % in the worst.\n",
        "Versions: " + ", ".join(f"{n} {v}" for n, v in versions.items()) + ".\n",
        f"![Times]({name}.svg)\n",
        "## Times\n\nMedian of the best round; in brackets the median over all rounds.\n",
    ]
    if record["opencl"]:
        if "device" in record:
            text.append("Device: {name}, {platform}, driver {driver}.\n".format(**record["device"]))
        text.append(opencl(record))
    text += [times(record, count, group) for group in GROUPS for count in threads]
    text += ["## Arithmetic\n", *(arithmetic(record, count) for count in threads)]
    text += ["## Latency, loading, memory\n",
             "Percentiles are medians over rounds; processor time is that of all threads together, which another program's load "
             "disturbs less than the clock. `load + first` is the best start, inside the process and without loading the "
             "engine's library (for Needletail: from the start of its process). Memory of load + first: peak resident "
             "bytes less what the process held before it opened the model. Largest difference: from onnxruntime's output, "
             "relative to its largest value.\n", latency(record)]
    if failures:
        text += ["\n## Failures\n", *failures]
    return "\n".join(text) + "\n"


def write(record: dict, folder: Path, name: str) -> None:
    (folder / f"{name}.md").write_text(markdown(record, name))
    (folder / f"{name}.svg").write_text(plot.bars(panels(record)))


def panels(record: dict) -> list[tuple[str, list[tuple[str, list[tuple[str, float, bool]]]]]]:
    """Per thread count a title and groups: network, then engine, best ms and whether it is Needletail."""
    result = []
    for threads in dict.fromkeys(entry["threads"] for entry in record["results"]):
        groups = [(entry["network"], [(name, best(facts), facts["ours"]) for name, facts in finished(entry["engines"]).items()])
                  for entry in record["results"] if entry["threads"] == threads]
        result.append((plural(threads), groups))
    return result
