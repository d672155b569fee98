"""Processes that take turns: each speaks the protocol of protocol.py and is stopped while the others run."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


class PeerFailure(Exception):
    """An engine that did not start, answer or end as it should."""


class Player:
    """One running engine. Outside its turns it is stopped by signal, with every process that it has started, so that no pool of
    it spins."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], log: Path, timeout: float):
        self.name, self.log = name, log
        started = time.perf_counter()
        with log.open("w") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                            env=environment, start_new_session=True)
        self.pending = b""
        answer = self.line(timeout)
        self.start_ms = (time.perf_counter() - started) * 1e3
        if answer != "ready":
            self.end()
            raise PeerFailure(f"{name}: answered {answer!r} instead of ready{self.complaint()}")
        self.peak_memory = self.read_peak_memory()
        self.signal(signal.SIGSTOP)

    def line(self, timeout: float) -> str:
        """The next line of its standard output."""
        deadline = time.monotonic() + timeout
        while b"\n" not in self.pending:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([self.process.stdout], [], [], remaining)[0]:
                self.end()
                raise PeerFailure(f"{self.name}: no answer within {timeout:.0f} s{self.complaint()}")
            chunk = os.read(self.process.stdout.fileno(), 4096)
            if not chunk:
                status = self.process.wait()
                raise PeerFailure(f"{self.name}: ended with status {status}{self.complaint()}")
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode()

    def complaint(self) -> str:
        """The last line of its standard error, if there is one."""
        lines = self.log.read_text(errors="replace").split("\n")
        return next((f": {line.strip()[:300]}" for line in reversed(lines) if line.strip()), "")

    def turn(self, warm_seconds: float, seconds: float) -> dict:
        """Wakes it, warms it, times it, stops it. Times in ms a run; `cpu_ms` is processor time, all threads together, and
        `other` the share of the machine that other programs used meanwhile."""
        self.signal(signal.SIGCONT)
        self.ask(warm_seconds)
        before, busy, clock = self.cpu_seconds(), machine_busy_seconds(), time.monotonic()
        numbers = [float(word) for word in self.ask(seconds).split()]
        elapsed = time.monotonic() - clock
        own = self.cpu_seconds() - before
        other = max(0.0, machine_busy_seconds() - busy - own) / elapsed / os.cpu_count()
        self.peak_memory = self.read_peak_memory()
        self.signal(signal.SIGSTOP)
        names = ("median", "p10", "count", "p90", "p99")
        return dict(zip(names, numbers)) | {"other": other, "cpu_ms": 1e3 * own / max(1.0, numbers[2])}

    def ask(self, seconds: float) -> str:
        self.process.stdin.write(f"{seconds}\n".encode())
        self.process.stdin.flush()
        return self.line(60 + 20 * seconds)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def read_peak_memory(self) -> int:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return 0

    def end(self) -> None:
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.signal(signal.SIGKILL)
                self.process.wait()

    def signal(self, number: int) -> None:
        """Sends a signal to the process and its own; they are a group."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def machine_busy_seconds() -> float:
    """Seconds that all processors together have worked since boot."""
    user, nice, system, _idle, _wait, interrupts, soft, *_ = (
        int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + interrupts + soft) / TICKS


def wait_for_quiet(share: float, seconds: float) -> None:
    """Waits, but no longer than `seconds`, until all programs together use less than `share` of the machine."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        busy = machine_busy_seconds()
        time.sleep(0.2)
        if machine_busy_seconds() - busy < share * 0.2 * os.cpu_count():
            return


def read_report(path: Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {}
