"""What a decorated call costs the calling thread, beside other products' decorators, each in an environment of its own.

    python benchmarks/peers/run.py                      # OpenInference and rag-otel, in this environment
    python benchmarks/peers/run.py --before /tmp/before # also an earlier version: a checkout (git worktree add)
    python benchmarks/peers/run.py --peers              # also Langfuse, OpenLIT and MLflow: installs them into .peers/

Every variant is a process that exports OTLP to a receiver in another process. The processes take turns, 30 rounds of 40
calls, 2 ms between calls, as an app would call. A figure is the median over the rounds of what a call takes: time that
the caller waits (`wall`), CPU time of its thread (`thread`), CPU time of the process (`process`), each less that of the
plain function. Its ratio to OpenInference's chain decorator, taken round by round, is what counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OURS = ("plain", "openinference", "rag_otel_decorator", "rag_otel_judging")
BEFORE = {"rag_otel_decorator": "before_decorator", "rag_otel_judging": "before_judging"}
"""Variant -> what the one of an earlier version is called."""
FIGURES = ("wall", "thread", "process")
PEERS = {"langfuse": ["langfuse"], "openlit": ["openlit"], "mlflow": ["mlflow"]}
BASELINE = "openinference"
WHOLE = "rag_otel_judging"
TO_REACH = {"wall": 0.8, "process": 1.6}
"""Of one OpenInference chain span, for the whole product with default judging."""


class _Accept(BaseHTTPRequestHandler):
    """Takes whatever is exported."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""


def serve() -> None:
    """Print the port, then take requests until standard input ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Accept)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


@contextlib.contextmanager
def receiver() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


def environment(peer: str) -> str:
    """The interpreter of an environment that holds this product alone; made when it is missing."""
    folder = ROOT / ".peers" / peer
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
    return str(python)


class Variant:
    """One process; `tree`: the checkout whose rag-otel it imports, in place of the installed one."""

    def __init__(self, name: str, python: str, endpoint: str, *, tree: Path | None = None) -> None:
        self.name = name
        paths = [] if tree is None else [tree, tree / "collectors", tree / "evaluators"]
        self.process = subprocess.Popen(
            [python, str(HERE / "app.py"), name, endpoint],
            env=os.environ | ({"PYTHONPATH": os.pathsep.join(map(str, paths))} if paths else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.rounds: list[dict[str, float]] = []

    def answer(self) -> dict[str, Any]:
        """Its next line of JSON; other lines are a library's own."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict):
                    return found
        raise SystemExit(f"{self.name} ended: run benchmarks/peers/app.py {self.name} ... to see why")

    def measure(self, calls: int, pace_ms: float) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{calls} {pace_ms}\n")
        self.process.stdin.flush()
        self.rounds.append(self.answer())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--calls", type=int, default=40, help="calls of each variant a round")
    parser.add_argument("--pace-ms", type=float, default=2.0, help="milliseconds between calls")
    parser.add_argument("--before", type=Path, help="a checkout of an earlier version, to be measured too")
    parser.add_argument("--peers", action="store_true", help="also the other products")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    pythons = dict.fromkeys(OURS, sys.executable)
    pythons |= {peer: environment(peer) for peer in PEERS if arguments.peers}
    with receiver() as endpoint:
        variants = {name: Variant(name, python, endpoint) for name, python in pythons.items()}
        if arguments.before is not None:
            tree = arguments.before.resolve()
            variants |= {new: Variant(old, sys.executable, endpoint, tree=tree) for old, new in BEFORE.items()}
        for variant in variants.values():
            variant.answer()
        for _ in range(arguments.rounds):
            for variant in variants.values():
                variant.measure(arguments.calls, arguments.pace_ms)
        for variant in variants.values():
            variant.process.kill()
    report(variants)


def report(variants: dict[str, Variant]) -> None:
    """Median and quartiles of the added time, and of its ratio to the baseline, round by round."""
    ratios = {}
    for figure in FIGURES:
        rounds = {name: [each[figure] for each in variant.rounds] for name, variant in variants.items()}
        plain = rounds.pop("plain")
        baseline = [us - bare for us, bare in zip(rounds[BASELINE], plain, strict=True)]
        print(figure)
        for name, taken in rounds.items():
            added = [us - bare for us, bare in zip(taken, plain, strict=True)]
            ratio = [each / base for each, base in zip(added, baseline, strict=True)]
            low, middle, high = statistics.quantiles(ratio, n=4)
            ratios[name, figure] = middle
            print(f"  {name:20} {statistics.median(added):8.1f} us added   x{middle:5.2f}  ({low:.2f} to {high:.2f})")
    for figure, wanted in TO_REACH.items():
        print(f"{WHOLE} / {BASELINE}, {figure}: {ratios[WHOLE, figure]:.2f}   (to reach: {wanted})")


if __name__ == "__main__":
    main()
