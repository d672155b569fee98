"""What a check has found so far, always on disk, and how much time it may still take."""

import datetime
import json
import os
import sys
import time
from pathlib import Path


class Budget:
    """A length of time divided among stages, one after another. What a stage leaves over is the next one's."""

    def __init__(self, seconds: float, clock=time.monotonic):
        self.seconds, self.clock = seconds, clock
        self.start = clock()
        self.deadline = self.start + seconds
        self.entries = 1

    def until(self, share: float, entries: float = 1) -> None:
        """Begins a stage of so many entries, those that are left out at once not counted, that may go on until this share of the whole time has passed."""
        self.deadline = self.start + share * self.seconds
        self.entries = entries

    def spent(self) -> float:
        return self.clock() - self.start

    def left(self) -> float:
        """Seconds left to the stage."""
        return max(0.0, self.deadline - self.clock())

    def share(self) -> float:
        """Seconds for each entry still to come in the stage, were all to take the same."""
        return self.left() / max(1, self.entries)


class Skip(Exception):
    """A piece of work that is left out: its reason."""


class Record:
    """Entries, each measured, failed or skipped. The file is written anew after every one, so that it holds what there is at any end."""

    def __init__(self, path: Path, budget: Budget, facts: dict):
        self.path, self.budget = path, budget
        self.content = {"date": datetime.date.today().isoformat(), "complete": False, "budget_s": budget.seconds, **facts,
                        "entries": []}
        # Here a folder that cannot be written is an error.
        self.beside().write_text(self.text())
        self.write()

    def add(self, entry: dict, action, needs: float = 3.0, requires=lambda: None) -> dict:
        """Adds what `action(left)` returns; `left()` are the seconds that it may still take: up to four shares, but `needs` at least. Where the stage has less it is skipped, as by Skip; another exception is its failure. `requires()` comes first and raises Skip where the work makes no sense."""
        started, left = self.budget.spent(), self.budget.left()
        allowed = min(left, max(needs, 4 * self.budget.share()))
        try:
            requires()
            if left < needs:
                raise Skip(f"{left:.0f} s are left to this stage, expected at least {needs:.0f}")
            entry = entry | {"status": "measured"} | action(lambda: max(0.1, allowed - (self.budget.spent() - started)))
        except Skip as reason:
            entry = entry | {"status": "skipped", "reason": str(reason)}
        except Exception as error:  # Whatever goes wrong in one entry, the others follow.
            entry = entry | {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:2000]}
        # What is left out at once takes no part of the stage.
        if entry["status"] != "skipped" or self.budget.spent() - started > 0.1:
            self.budget.entries -= 1
        entry["took_s"] = round(self.budget.spent() - started, 2)
        self.content["entries"].append(entry)
        self.write()
        print(describe(entry), flush=True)
        return entry

    def finish(self, ended_by: str | None = None) -> None:
        """The last writing; `ended_by` names what ended the check before its end."""
        self.content |= {"complete": True} if ended_by is None else {"ended_by": ended_by}
        self.write()

    def beside(self) -> Path:
        return self.path.with_name(self.path.name + ".part")

    def text(self) -> str:
        self.content["spent_s"] = round(self.budget.spent(), 1)
        return json.dumps(self.content, indent=1) + "\n"

    def write(self) -> None:
        """Replaces the file. Where the disk takes no more, what it held before stays."""
        try:
            self.beside().write_text(self.text())
            os.replace(self.beside(), self.path)
        except OSError as error:
            print(f"{self.path} cannot be written: {error}", file=sys.stderr, flush=True)

    def count(self, status: str, stage: str | None = None) -> int:
        """Entries of this status, of one stage or of all."""
        return sum(entry["status"] == status and stage in (None, entry["stage"]) for entry in self.content["entries"])


def describe(entry: dict) -> str:
    """One line for the terminal."""
    head = " ".join(str(entry[key]) for key in ("stage", "model", "engine", "precision", "batch", "tiles") if key in entry)
    if entry["status"] != "measured":
        return f"{entry['status']:9}{head}: {entry['reason'].splitlines()[0][:150]}"
    shown = {key: value for key, value in entry.items() if key.endswith(("_ms", "difference", "shapes", "agrees", "_s"))}
    return f"{'':9}{head}: " + ", ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                                         for key, value in shown.items() if value is not None)
