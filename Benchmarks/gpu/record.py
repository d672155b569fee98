"""What a check has found so far, always on disk, and how much time it may still take."""

import datetime
import json
import os
import time
from pathlib import Path


class Budget:
    """A length of time divided among stages, one after another. What a stage leaves over is the next one's."""

    def __init__(self, seconds: float, clock=time.monotonic):
        self.seconds, self.clock = seconds, clock
        self.start = clock()
        self.deadline = self.start + seconds

    def until(self, share: float) -> None:
        """Begins a stage that may go on until this share of the whole time has passed."""
        self.deadline = self.start + share * self.seconds

    def spent(self) -> float:
        return self.clock() - self.start

    def left(self) -> float:
        """Seconds left to the stage."""
        return max(0.0, self.deadline - self.clock())


class Skip(Exception):
    """A piece of work that is left out: its reason."""


class Record:
    """Entries, each measured, failed or skipped. The file is written anew after every one, so that it holds what there is at any end."""

    def __init__(self, path: Path, budget: Budget, facts: dict):
        self.path, self.budget = path, budget
        self.content = {"date": datetime.date.today().isoformat(), "complete": False, "budget_s": budget.seconds, **facts,
                        "entries": []}
        self.write()

    def add(self, entry: dict, action, needs: float = 3.0) -> dict:
        """Adds what `action(seconds)` returns; `seconds`, which it must keep to, is half of what the stage has left. Less time than `needs` skips it, as Skip does; another exception is its failure."""
        started, left = self.budget.spent(), self.budget.left()
        try:
            if left < needs:
                raise Skip(f"{left:.0f} s are left to this stage, expected at least {needs:.0f}")
            entry = entry | {"status": "measured"} | action(max(left / 2, min(left, needs)))
        except Skip as reason:
            entry = entry | {"status": "skipped", "reason": str(reason)}
        except Exception as error:  # Whatever goes wrong in one entry, the others follow.
            entry = entry | {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:2000]}
        entry["took_s"] = round(self.budget.spent() - started, 2)
        self.content["entries"].append(entry)
        self.write()
        print(describe(entry), flush=True)
        return entry

    def finish(self) -> None:
        self.content["complete"] = True
        self.write()

    def write(self) -> None:
        self.content["spent_s"] = round(self.budget.spent(), 1)
        beside = self.path.with_name(self.path.name + ".part")
        beside.write_text(json.dumps(self.content, indent=1) + "\n")
        os.replace(beside, self.path)

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
