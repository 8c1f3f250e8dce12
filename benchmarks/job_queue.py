"""Evaluation jobs on RabbitMQ: what kills lose or double, what a second worker brings, what a poison job costs others.

    python -m benchmarks.job_queue [--rounds 20] [--part kills|broker|workers|poison]

A real node, workers in processes of their own, a judge server that takes 200 ms. A score is doubled if one target span
has evaluation spans of two ids. Times are shares of each other, measured by turns.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rag_otel_collectors.jobs.queue import QueuedJob, QueueSettings
from rag_otel_collectors.jobs.rabbit import RabbitJobQueue
from testkit.judge_server import JudgeServer
from tests.collectors.jobs.kit import WorkerProcess, a_worker, scores, some_jobs, targets
from tests.collectors.otlp.kit import Backend, a_backend
from tests.support.polling import eventually
from tests.support.rabbitmq import RabbitNode, a_rabbit_node

JUDGE_S = 0.2
JOBS = 40
TURN_JOBS = 160


def settings_of(node: RabbitNode, **changes: Any) -> QueueSettings:
    fields: dict[str, Any] = {"retry_delays": (0.5, 1.0), "partitions": 1, "prefetch": 4}
    return QueueSettings(url=node.url, name=f"bench-{secrets.token_hex(4)}", **fields | changes)


def publish(settings: QueueSettings, jobs: Sequence[QueuedJob]) -> None:
    async def run() -> None:
        queue = RabbitJobQueue(settings)
        await queue.open()
        await asyncio.gather(*map(queue.publish, jobs))
        await queue.close()

    asyncio.run(run())


def dead_letters(settings: QueueSettings) -> int:
    async def run() -> int:
        queue = RabbitJobQueue(settings)
        await queue.open()
        try:
            return len(await queue.dead_letters())
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--part", choices=("kills", "broker", "workers", "poison"))
    options = parser.parse_args()

    def wanted(part: str) -> bool:
        return options.part in (None, part)

    with tempfile.TemporaryDirectory() as folder, a_rabbit_node(Path(folder) / "node") as node:
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
        if wanted("kills"):
            kill_rounds(node, options.rounds, replace_first, "kill -9 of a worker")
        if wanted("broker"):

            def restart(workers: list[WorkerProcess]) -> None:
                node.kill()
                node.start()

            kill_rounds(node, options.rounds, restart, "kill -9 of the broker")


if __name__ == "__main__":
    main()
