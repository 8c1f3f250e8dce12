"""Programs with a state folder, and what a backend has got of them."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from rag_otel import semconv
from rag_otel.durable.span_codec import decode
from testkit.http_receiver import Receiver
from testkit.warm_python import kill_9, pid_of, warm_python

ROOT = Path(__file__).parents[2]
ANSWER = "answer"
IMPATIENT = ("--patience", "1")
"""The exporter soon gives up."""


@dataclass
class Program:
    """A running `answering_app`."""

    process: subprocess.Popen[str]
    counters: dict[str, int] = field(default_factory=dict)
    """At the end of the last command."""
    left: int | None = None
    """Traces in the folder that are not done."""

    def do(self, command: str) -> None:
        """Have it do something, and wait until it is done."""
        self.say(command)
        answer = json.loads(self.line())
        self.counters, self.left = answer["counters"], answer["left"]

    def say(self, command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    @property
    def pid(self) -> int:
        return pid_of(self.process)

    def kill(self) -> None:
        """SIGKILL."""
        kill_9(self.process)
        self.process.wait(30)

    def exit(self) -> None:
        """End as programs do."""
        self.say("exit")
        self.process.wait(60)


@contextlib.contextmanager
def a_program(folder: Path, endpoint: str, *options: str, **environment: str) -> Iterator[Program]:
    """Runs the program until the block ends."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "collectors", ROOT / "evaluators")))
    process = subprocess.Popen(
        [warm_python(), "-m", "tests.durable.answering_app", str(folder), endpoint, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    program = Program(process)
    try:
        assert program.line() == "ready\n"
        yield program
    finally:
        if process.poll() is None:
            program.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def spans(receiver: Receiver) -> list[ReadableSpan]:
    """Every span that a backend got, doubles too, in the order of arrival."""
    bodies = [each.body for each in list(receiver.requests)]
    plain = [gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in bodies]
    return [span for body in plain for span in decode(body)]


def attribute(span: ReadableSpan, name: str) -> Any:
    return (span.attributes or {}).get(name)


def questions(receiver: Receiver, status: str | None = None) -> Counter[str]:
    """How often the answer to each question came, with this status where one is given."""
    return Counter(
        attribute(span, semconv.INPUT_VALUE)
        for span in spans(receiver)
        if span.name == ANSWER and status in (None, attribute(span, semconv.STATUS))
    )


def scored(receiver: Receiver) -> set[str]:
    """The questions whose scores have come, on the span or in an evaluation span."""
    found = spans(receiver)
    score = semconv.metric_key("gated", "score")
    with_score = {span.context.trace_id for span in found if attribute(span, score) is not None}
    return {
        attribute(span, semconv.INPUT_VALUE)
        for span in found
        if span.name == ANSWER and span.context.trace_id in with_score
    }


def written(results: Path) -> Counter[str]:
    """How often the result of each question was written to this file."""
    return Counter(results.read_text().splitlines()) if results.exists() else Counter()


def doubles(receiver: Receiver) -> list[str]:
    """Names of spans that came more than once."""
    counts = Counter((span.context.span_id, span.name) for span in spans(receiver))
    return [name for (_, name), count in counts.items() if count > 1]
