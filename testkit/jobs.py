"""A worker as users run it, and jobs to give it."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from rag_otel.model import Chunk, RagTrace, SamplingDecision, SpanRef
from rag_otel_collectors.jobs.job import EvaluationJob, queued
from rag_otel_collectors.jobs.queue import QueuedJob, QueueSettings
from testkit.collector import Backend
from testkit.judge_server import JudgeServer
from testkit.polling import eventually
from testkit.warm_python import kill_9, warm_python

CHUNK = "The lighthouse of Kap Arkona was built in 1827 and is 19.3 metres high."


def an_evaluation_job(number: int, *, tenant: str = "", response: str | None = None) -> EvaluationJob:
    """A job of a trace whose ids are made of `number`."""
    target = SpanRef(trace_id=f"{number + 1:032x}", span_id=f"{number + 1:016x}")
    return EvaluationJob(
        trace=RagTrace(
            target=target,
            chunk_span=target,
            question=f"When was lighthouse {number} built?",
            chunks=(Chunk(id="kap-arkona", text=CHUNK, position=0),),
            response=response or f"Lighthouse {number} was built in 1827.",
            service="shop",
            route="answer",
            tags={"tenant": tenant} if tenant else {},
            start_ns=1_700_000_000_000_000_000,
            duration_ns=1_000_000,
        ),
        decision=SamplingDecision(sampled=True, reason="always", probability=1.0),
        resource={"service.name": "shop", "process.command_args": ["a", "b"]},
    )


def some_jobs(count: int, *, first: int = 0, **fields: Any) -> list[QueuedJob]:
    return [queued(an_evaluation_job(first + number, **fields)) for number in range(count)]


def address_of(settings: QueueSettings) -> str:
    """The queue as `job_queue_url` names it."""
    own = {"name": settings.name, "partitions": settings.partitions, "prefetch": settings.prefetch}
    own |= {"max_jobs": settings.max_jobs, "max_starts": settings.max_starts}
    return f"{settings.url}?{urlencode(own | {'retry_delays': ','.join(map(str, settings.retry_delays))})}"


class WorkerProcess:
    """`rag-otel work` in its own process."""

    def __init__(
        self, settings: QueueSettings, backend: Backend, judge: JudgeServer | None = None, **more: str
    ) -> None:
        """With a `judge` that server is asked, once for each job; without one the embedded judge. `more`: settings."""
        program = ("rag_otel.cli.main", "work") if judge is None else ("testkit.judged_worker", judge.url)
        named = {
            "drift": "false",
            "judge_watch": "false",
            **more,
        }
        self.queue_options = ["--queue", address_of(settings)]
        self.queue_options += [part for name, value in named.items() for part in ("--set", f"{name}={value}")]
        options = [*self.queue_options, "--backend", backend.address, "--health", "127.0.0.1:0"]
        self._command = [warm_python(), "-m", *program, *options]
        self.lines: list[str] = []
        self.process: subprocess.Popen[str] | None = None

    def begin(self) -> WorkerProcess:
        """Starts the process."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        return self

    def start(self) -> WorkerProcess:
        """The same, and waits until it works."""
        self.begin()
        eventually(self._works, within_s=120)
        return self

    def _works(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "\n".join(self.lines)
        return any(line.startswith("working on") for line in self.lines)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.lines.append(line.rstrip())

    def probe(self, path: str) -> tuple[int, str]:
        """The status and the text at /healthz or /readyz."""
        port = next(line.rpartition(" ")[2] for line in self.lines if line.startswith("health on port"))
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode().strip()
        finally:
            connection.close()

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        kill_9(self.process)
        self.process.wait()

    def terminate(self) -> int:
        """SIGTERM, and the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextlib.contextmanager
def a_worker(settings: QueueSettings, backend: Backend, judge: JudgeServer | None = None) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(settings, backend, judge)
    try:
        yield worker.start()
    finally:
        if worker.process is not None and worker.process.poll() is None:
            worker.kill()


def scores(backend: Backend) -> dict[str, set[str]]:
    """Target span -> the ids of its evaluation spans. Two ids for one target are a doubled score."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for span in backend.spans():
        if span.name.startswith("evaluation "):
            found[span.parent_span_id.hex()].add(span.span_id.hex())
    return dict(found)


def targets(count: int, *, first: int = 0) -> set[str]:
    return {f"{first + number + 1:016x}" for number in range(count)}
