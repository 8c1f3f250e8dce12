"""kill -9 of an instrumented application at random: which of its spans were exported, which are missing, which doubled.

    python benchmarks/app_kills.py [--rounds 20]

An application that is killed loses what is in its memory: spans wait for their scores (`hold`), then for the SDK's
batch (OTEL_BSP_SCHEDULE_DELAY). Spans that ended before this window must have arrived; none may arrive twice.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from _collect_faults import HttpSink

from rag_otel.cli.terminal import table

_HOLD_S: Final = 1.0
_BATCH_S: Final = 0.2
_EXPORT_S: Final = 1.0
"""For a batch on its way, on a busy machine."""
_PER_SECOND: Final = 40


def serve(record: str) -> None:
    """The application: answers until it is killed, and writes down when each span ended."""
    import rag_otel

    rag_otel.instrument(spans=rag_otel.SpanSettings(hold=_HOLD_S))

    @rag_otel.observe
    def ask(question: str) -> dict[str, object]:
        from opentelemetry import trace

        spans.append(trace.get_current_span().get_span_context().span_id)
        return {"answer": "The tower is 330 metres high.", "chunks": ["The tower is 330 metres high, built in 1889."]}

    spans: list[int] = []
    with open(record, "w", buffering=1, encoding="ascii") as file:
        while True:
            ask("How tall is the tower?")
            file.write(f"{spans.pop():016x} {time.time()}\n")
            time.sleep(1 / _PER_SECOND)


def kill_once(sink: HttpSink, record: Path, after_s: float) -> tuple[dict[str, float], float]:
    """Start the application, kill it so long after its first span; (when each span ended, when it was killed)."""
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": sink.url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_BSP_SCHEDULE_DELAY": str(int(_BATCH_S * 1000)),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    application = subprocess.Popen([sys.executable, __file__, "--serve", str(record)], env=environment)
    while not record.exists() or not record.stat().st_size:
        if application.poll() is not None:
            raise SystemExit("the application ended by itself")
        time.sleep(0.01)
    time.sleep(after_s)
    killed = time.time()
    application.kill()
    application.wait()
    lines = [line.split() for line in record.read_text().splitlines() if line.count(" ") == 1]
    return {span: float(ended) for span, ended in lines}, killed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--serve", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
    moments, counts, window = random.Random(arguments.seed), Counter[str](), _HOLD_S + _BATCH_S + _EXPORT_S
    sink = HttpSink()
    ended: dict[str, float] = {}
    oldest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            spans, killed = kill_once(sink, Path(folder) / str(number), moments.uniform(1.0, 6.0))
            arrived = {span_id.hex() for span_id in sink.seen()}
            missing = [killed - at for span, at in spans.items() if span not in arrived]
            ended |= spans
            oldest = max([oldest, *missing])
            counts["missing"] += len(missing)
            counts["beyond"] += sum(age > window for age in missing)
    seen = {span_id.hex(): times for span_id, times in sink.seen().items()}
    sink.close()
    rows = [
        ("spans that ended", f"{len(ended):,}"),
        ("exported", f"{sum(span in seen for span in ended):,}"),
        (f"missing, ended within the last {window:g} s", f"{counts['missing'] - counts['beyond']:,}"),
        ("missing, ended before", f"{counts['beyond']:,}"),
        ("oldest missing span, seconds before the kill", f"{oldest:.2f}"),
        ("doubled", f"{sum(seen.get(span, 0) > 1 for span in ended):,}"),
    ]
    print(f"\nApplication killed {arguments.rounds} times at random")
    print(table(rows))


if __name__ == "__main__":
    main()
