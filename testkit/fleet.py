"""Worker processes that share a state folder: forked, as a server's workers are, each with the delivery of the product.

Run as a module by `fleet`: it forks the workers and passes every line of its input on to the worker that it is for.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_otel.settings import resolve
from rag_otel.setup.delivering import compose_delivery
from rag_otel.sharing.leadership import LEADER, SHARED
from testkit.drift_scores import result
from testkit.polling import eventually
from testkit.warm_python import warm_python

ROOT = Path(__file__).parents[1]
QUICK = {"drift_baseline_count": 200, "alert_digest": 0.0, "alert_rules": ["score<0"]}
"""A drop is told after few answers, at once, and nothing else is."""


@dataclass
class Fleet:
    """Running workers."""

    process: subprocess.Popen[str]
    folder: Path
    pids: list[int]
    killed: set[int] = field(default_factory=set)

    def submit(self, worker: int, index: int, score: float | None, **changes: Any) -> None:
        """Have a worker deliver the result of one answer; when it has taken it, so that answers come in order."""
        self._ask({"to": worker, "index": index, "score": score, **changes})

    def flush(self) -> None:
        """Every worker writes what it has, and the leader reads it: the answers that follow come later for sure."""
        for worker in (*self.alive, self.leader()):
            if worker is not None:
                self._ask({"to": worker, "index": -1})

    def _ask(self, command: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline().strip() == str(command["index"])

    @property
    def alive(self) -> list[int]:
        return [worker for worker in range(len(self.pids)) if worker not in self.killed]

    def leader(self) -> int | None:
        """The worker that leads; None while none of those alive does."""
        with suppress(OSError, ValueError):
            worker = self.pids.index(int((self.folder / SHARED / LEADER).read_text()))
            return None if worker in self.killed else worker
        return None

    def kill_leader(self) -> int:
        """kill -9; which one it was."""
        leader = eventually(lambda: None if (found := self.leader()) is None else (found,))[0]
        self.kill(leader)
        return leader

    def kill(self, worker: int) -> None:
        os.kill(self.pids[worker], signal.SIGKILL)
        self.killed.add(worker)


@contextmanager
def fleet(count: int, folder: Path, url: str, **settings: Any) -> Iterator[Fleet]:
    """`count` workers that tell a webhook; ended in good order at the end of the block."""
    given = {"state_folder": str(folder), "alert_webhook_url": url, "metrics": ["faithfulness"], **QUICK, **settings}
    paths = [str(ROOT), str(ROOT / "collectors"), str(ROOT / "evaluators")]
    process = subprocess.Popen(
        [warm_python(), "-m", "testkit.fleet", str(count), json.dumps(given)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield Fleet(process, folder, json.loads(process.stdout.readline()))
    finally:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait(60)


def work(commands: int, settings: dict[str, Any]) -> None:
    """One worker: delivers what it reads, until the end of its input."""
    delivery = compose_delivery(resolve(settings).settings)
    delivery.start()
    with os.fdopen(commands) as lines:
        for line in lines:
            given = json.loads(line)
            del given["to"]
            index = given.pop("index")
            if index < 0:
                delivery.flush(10)
            else:
                delivery.submit(result(index, given.pop("score"), **given))
            os.write(sys.stdout.fileno(), f"{index}\n".encode())
    delivery.shutdown(10)


def main() -> None:
    settings = json.loads(sys.argv[2])
    pipes, pids = [], []
    for _ in range(int(sys.argv[1])):
        commands, give = os.pipe()
        if (pid := os.fork()) == 0:
            sys.stdin.close()
            for other in (*pipes, give):
                os.close(other)
            work(commands, settings)
            os._exit(0)
        os.close(commands)
        pipes.append(give)
        pids.append(pid)
    print(json.dumps(pids), flush=True)
    for line in sys.stdin:
        os.write(pipes[json.loads(line)["to"]], line.encode())
    for each in pipes:
        os.close(each)
    for pid in pids:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
