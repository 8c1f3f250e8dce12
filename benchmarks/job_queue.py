"""Evaluation jobs: what kills lose or double, what a second worker brings, what a poison job costs others, an outage.

    python -m benchmarks.job_queue [--rounds 20] [--part kills|broker|workers|poison|killer]
    python -m benchmarks.job_queue --part outage [--outage-s 600]

A real broker, workers in processes of their own, a judge server that takes 200 ms. A score is doubled if one target
span has evaluation spans of two ids. Times are shares of each other, measured by turns.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import rag_otel
from rag_otel_collectors.jobs.job import queued
from rag_otel_collectors.jobs.job_queue import JobQueue
from rag_otel_collectors.jobs.queue import QueuedJob, QueueSettings
from testkit.collector import Backend, a_backend
from testkit.jobs import CHUNK, WorkerProcess, a_worker, address_of, an_evaluation_job, scores, some_jobs, targets
from testkit.judge_server import JudgeServer
from testkit.judged_worker import ENDS_WORKER
from testkit.polling import eventually
from testkit.rabbitmq import RabbitNode, a_rabbit_node

JUDGE_S = 0.2
JOBS = 40
TURN_JOBS = 160


def settings_of(node: RabbitNode, **changes: Any) -> QueueSettings:
    fields: dict[str, Any] = {"retry_delays": (0.5, 1.0), "partitions": 1, "prefetch": 4}
    return QueueSettings(url=node.url, name=f"bench-{secrets.token_hex(4)}", **fields | changes)


def publish(settings: QueueSettings, jobs: Sequence[QueuedJob]) -> None:
    async def run() -> None:
        queue = JobQueue(settings)
        await queue.open()
        await queue.publish(*jobs)
        await queue.close()

    asyncio.run(run())


def dead_letters(settings: QueueSettings) -> int:
    async def run() -> int:
        queue = JobQueue(settings)
        await queue.open()
        try:
            return (await queue.counts()).dead
        finally:
            await queue.close()

    return asyncio.run(run())


def kill_rounds(node: RabbitNode, rounds: int, kill: Callable[[list[WorkerProcess]], None], what: str) -> None:
    """Two workers; in each round `kill` is called when a few of the jobs are scored."""
    settings = settings_of(node)
    with JudgeServer(latency_s=JUDGE_S) as judge, a_backend() as backend, ExitStack() as running:
        workers = [WorkerProcess(settings, backend, judge).start() for _ in range(2)]
        running.callback(lambda: [worker.kill() for worker in workers])
        for number in range(rounds):
            first = number * JOBS
            publish(settings, some_jobs(JOBS, first=first))
            eventually(lambda before=first: len(scores(backend)) >= before + 3, within_s=120)  # type: ignore[misc]
            kill(workers)
            wanted = targets(first + JOBS)
            eventually(lambda want=wanted: want <= set(scores(backend)), within_s=180)  # type: ignore[misc]
            print(f"{what}: round {number + 1} done", flush=True)
        found = scores(backend)
        lost, doubled = targets(rounds * JOBS) - set(found), [each for each in found.values() if len(each) > 1]
        print(
            f"{what}: {rounds} rounds, {rounds * JOBS} jobs, lost {len(lost)}, doubled scores {len(doubled)}, "
            f"dead letters {dead_letters(settings)}, spans that came again with the same id "
            f"{_repeated(backend)}, calls of the judge {len(judge.requests)}"
        )


def _repeated(backend: Backend) -> int:
    ids = [span.span_id for span in backend.spans()]
    return len(ids) - len(set(ids))


def replace_first(settings_workers: list[WorkerProcess]) -> None:
    """kill -9 of one worker; another takes its place."""
    settings_workers[0].kill()
    settings_workers.append(settings_workers.pop(0).begin())


def turn(node: RabbitNode, workers: int, extra: Sequence[QueuedJob] = ()) -> float:
    """Seconds from the first to the last score of `TURN_JOBS` jobs, with so many workers."""
    settings = settings_of(node)
    with JudgeServer(latency_s=JUDGE_S) as judge, a_backend() as backend, ExitStack() as running:
        for _ in range(workers):
            running.enter_context(a_worker(settings, backend, judge))
        publish(settings, [*extra, *some_jobs(TURN_JOBS)])
        eventually(lambda: judge.requests, within_s=60)
        started = time.perf_counter()
        eventually(lambda: len(backend.requests) >= TURN_JOBS and len(scores(backend)) == TURN_JOBS, within_s=300)
        return time.perf_counter() - started


def killer_turn(node: RabbitNode, killing: bool) -> tuple[float, float]:
    """Seconds for 90% of `TURN_JOBS` jobs and for all, with two workers, which are started again when they end."""
    settings = settings_of(node, partitions=4, prefetch=8, retry_delays=(1.0, 10.0, 60.0))  # the defaults
    with JudgeServer(latency_s=JUDGE_S) as judge, a_backend() as backend, ExitStack() as running:
        workers = [WorkerProcess(settings, backend, judge).start() for _ in range(2)]
        ended = threading.Event()
        supervisor = threading.Thread(target=supervise, args=(workers, ended))
        supervisor.start()
        running.callback(lambda: [worker.kill() for worker in workers])
        running.callback(supervisor.join)
        running.callback(ended.set)
        poison = [queued(an_evaluation_job(10**6, response=f"{ENDS_WORKER} Lighthouse 1 was built in 1827."))]
        started = time.perf_counter()
        publish(settings, [*(poison if killing else []), *some_jobs(TURN_JOBS)])
        eventually(lambda: len(targets(TURN_JOBS) & set(scores(backend))) >= 0.9 * TURN_JOBS, within_s=300)
        most = time.perf_counter() - started
        eventually(lambda: targets(TURN_JOBS) <= set(scores(backend)), within_s=300)
        return most, time.perf_counter() - started


def supervise(workers: list[WorkerProcess], ended: threading.Event) -> None:
    """Starts workers again."""
    while not ended.wait(0.1):
        for worker in workers:
            if worker.process is not None and worker.process.poll() is not None:
                worker.begin()


def outage(node: RabbitNode, seconds: float) -> None:
    """An application answers five times a second; the broker is away for a while; then a worker does what waits."""
    settings = settings_of(node)
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    with JudgeServer(latency_s=0.05) as judge, a_backend() as backend, a_worker(settings, backend, judge):
        exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{backend.port}", insecure=True)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        rag_otel.instrument(
            provider,
            judge=rag_otel.JudgeSettings(job_queue_url=address_of(settings)),
        )
        before = answers(60.0)
        node.kill()
        print(f"broker stopped after {len(before)} answers", flush=True)
        during = answers(seconds)
        node.start()
        print(f"broker started after {len(during)} more answers", flush=True)
        back = time.perf_counter()
        after = answers(60.0)
        total = len(before) + len(during) + len(after)
        eventually(lambda: len(scores(backend)) >= total, within_s=900)
        found = scores(backend)
        print(
            f"broker away for {seconds:.0f} s: {total} answers, {len(during)} meanwhile; evaluated {len(found)}, lost "
            f"{total - len(found)}, doubled scores {sum(len(ids) > 1 for ids in found.values())}, dead letters "
            f"{dead_letters(settings)}; all evaluated {time.perf_counter() - back:.0f} s after it was back"
        )
        for name, times in (("before", before), ("during", during), ("after", after)):
            cuts = statistics.quantiles(times, n=100)
            print(f"one answer {name}: median {cuts[49] * 1e6:.0f} us, 99th percentile {cuts[98] * 1e6:.0f} us")
        rag_otel.flush(timeout=30)


def answers(seconds: float) -> list[float]:
    """Seconds that each of the answers took."""
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        started = time.perf_counter()
        lighthouse(f"When was lighthouse {len(took)} built?")
        took.append(time.perf_counter() - started)
        time.sleep(0.2)
    return took


@rag_otel.observe
def lighthouse(question: str) -> dict[str, object]:
    return {"answer": "It was built in 1827.", "chunks": [CHUNK]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--part", choices=("kills", "broker", "workers", "poison", "killer", "outage"))
    parser.add_argument("--outage-s", type=float, default=600.0)
    options = parser.parse_args()

    def wanted(part: str) -> bool:
        return options.part in (None, part)

    with tempfile.TemporaryDirectory() as folder, a_rabbit_node(Path(folder) / "node") as node:
        if options.part == "outage":
            outage(node, options.outage_s)
        if wanted("workers"):
            pairs = [(turn(node, 1), turn(node, 2)) for _ in range(options.turns)]
            ratio = statistics.median(one / two for one, two in pairs)
            shown = ", ".join(f"{one:.1f}/{two:.1f} s" for one, two in pairs)
            print(f"two workers do {ratio:.2f} times the work of one ({shown})", flush=True)
        if wanted("poison"):
            poison = [QueuedJob(key="poison", tenant="shop", body=b"{")]
            pairs = [(turn(node, 1), turn(node, 1, poison)) for _ in range(options.turns)]
            ratio = statistics.median(after / before for before, after in pairs)
            shown = ", ".join(f"{before:.1f}/{after:.1f} s" for before, after in pairs)
            print(f"with a poison job the others take {ratio:.2f} times as long ({shown})", flush=True)
        if wanted("killer"):
            threes = [[killer_turn(node, killing) for killing in (False, True, False)] for _ in range(options.turns)]
            for which, share in enumerate(("90% of the other jobs", "all other jobs")):
                times = [[each[which] for each in three] for three in threes]
                ratio = statistics.median(with_it / ((before + after) / 2) for before, with_it, after in times)
                noise = statistics.median(before / after for before, _, after in times)
                shown = ", ".join("/".join(f"{each:.1f}" for each in three) for three in times)
                print(f"with a job that kills its workers {share} take {ratio:.2f} times as long ({shown} s)")
                print(f"without it, against itself: {noise:.2f}", flush=True)
        if wanted("kills"):
            kill_rounds(node, options.rounds, replace_first, "kill -9 of a worker")
        if wanted("broker"):

            def restart(workers: list[WorkerProcess]) -> None:
                node.kill()
                node.start()

            kill_rounds(node, options.rounds, restart, "kill -9 of the broker")


if __name__ == "__main__":
    main()
