"""The other end of torch_worker.py: asks, waits no longer than it may, and starts a new worker after one that failed."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from .record import Skip


class TorchFailure(Exception):
    """PyTorch is missing or failed."""


class TorchPeer:
    """A worker process that is started when first asked. Idle between questions."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.process: subprocess.Popen | None = None
        self.pending = b""

    def ask(self, limit: float, **request) -> dict:
        """The answer to a request. Raises TorchFailure when it tells of an error, Skip when there is none within `limit` seconds."""
        deadline = time.monotonic() + limit
        self.start()
        return self.exchange(request | {"folder": str(self.folder), "limit": limit}, deadline)

    def start(self) -> None:
        """Starts a worker where none is: it takes seconds to be ready."""
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, str(Path(__file__).with_name("torch_worker.py"))],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=(self.folder / "torch.log").open("w"))

    def exchange(self, request: dict, deadline: float) -> dict:
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.failure("ended") from None
        while b"\n" not in self.pending:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([self.process.stdout], [], [], remaining)[0]:
                self.end()
                self.start()
                raise Skip(f"the PyTorch process did not end '{request['do']}' in its time")
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise self.failure("ended")
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise TorchFailure(answer["error"])
        return answer

    def failure(self, what: str) -> TorchFailure:
        self.end()
        lines = [line for line in (self.folder / "torch.log").read_text(errors="replace").splitlines() if line.strip()]
        return TorchFailure(f"the PyTorch process {what}" + (f": {lines[-1].strip()}" if lines else ""))

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process, self.pending = None, b""
