"""What a decorated call costs the calling thread, beside other products' decorators, each in an environment of its own.

    python benchmarks/peers/run.py                      # OpenInference and rag-otel, in this environment
    python benchmarks/peers/run.py --peers              # also Langfuse, OpenLIT and MLflow: installs them into .peers/

Every variant is a process that exports OTLP to a receiver in another process. The processes take turns, 30 rounds of 40
calls, 2 ms between calls, as an app would call. A figure is the median over the rounds of the CPU time that the
calling thread spends in a call (`time.thread_time`), less that of the plain function; its ratio to OpenInference's
chain decorator, taken round by round, is what counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
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
PEERS = {"langfuse": ["langfuse"], "openlit": ["openlit"], "mlflow": ["mlflow"]}
BASELINE = "openinference"
WHOLE = "rag_otel_judging"
TO_REACH = 0.7
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
    """One process."""

    def __init__(self, name: str, python: str, endpoint: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, str(HERE / "app.py"), name, endpoint],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.rounds: list[float] = []

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
        self.rounds.append(float(self.answer()["us"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--calls", type=int, default=40, help="calls of each variant a round")
    parser.add_argument("--pace-ms", type=float, default=2.0, help="milliseconds between calls")
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
        for variant in variants.values():
            variant.answer()
        for _ in range(arguments.rounds):
            for variant in variants.values():
                variant.measure(arguments.calls, arguments.pace_ms)
        for variant in variants.values():
            variant.process.kill()
    report(variants)


def report(variants: dict[str, Variant]) -> None:
    """Median and quartiles of the added CPU time, and of its ratio to the baseline, round by round."""
    plain, baseline = variants["plain"].rounds, variants[BASELINE].rounds
    ratios = {}
    for name, variant in variants.items():
        if name == "plain":
            continue
        added = [us - bare for us, bare in zip(variant.rounds, plain, strict=True)]
        ratio = [each / (base - bare) for each, base, bare in zip(added, baseline, plain, strict=True)]
        low, middle, high = statistics.quantiles(ratio, n=4)
        ratios[name] = middle
        print(f"{name:20} {statistics.median(added):8.1f} us added   x{middle:5.2f}  ({low:.2f} to {high:.2f})")
    print(f"{WHOLE} / {BASELINE}: {ratios[WHOLE]:.2f}   (to reach: {TO_REACH})")


if __name__ == "__main__":
    main()
