"""`rag-otel doctor` where traces are published as jobs, with a real RabbitMQ and a real Phoenix."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rag_otel.cli.main import main
from rag_otel_collectors.jobs.delivery import Delivery
from rag_otel_collectors.jobs.job_queue import JobQueue
from rag_otel_collectors.jobs.queue import QueuedJob, QueueSettings
from testkit.rabbitmq import a_rabbit_node
from testkit.shared_servers import SharedPhoenix


def give_one_up(settings: QueueSettings) -> None:
    """Leaves one dead letter in the queue."""

    async def run() -> None:
        done = asyncio.Event()

        async def handle(delivery: Delivery) -> None:
            await delivery.dead_letter("never")
            done.set()

        queue = JobQueue(settings)
        await queue.open()
        await queue.publish(QueuedJob(key="a", tenant="", body=b"{"))
        await queue.consume(handle)
        async with asyncio.timeout(60):
            await done.wait()
        await queue.close()

    asyncio.run(run())


@pytest.mark.phoenix
@pytest.mark.server
@pytest.mark.slow(reason="a RabbitMQ node starts and stops")
def test_the_queue_its_dead_letters_and_a_missing_worker_are_named(
    phoenix_server: SharedPhoenix,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAG_OTEL_PHOENIX_ENDPOINT", phoenix_server.base_url)
    monkeypatch.setenv("RAG_OTEL_PROJECT_NAME", "doctor-queue-test")
    with a_rabbit_node(tmp_path / "rabbitmq") as server:
        monkeypatch.setenv("RAG_OTEL_JOB_QUEUE_URL", server.url)
        give_one_up(QueueSettings(url=server.url))
        assert main(["doctor", "--timeout", "15"]) == 1
        said = capsys.readouterr().out
        assert "the job queue 'rag-otel' answers and has these settings: 0 jobs wait" in said
        assert "1 dead letters (rag-otel dead-letters list" in said
        assert "the trace was published as a job" in said
        assert "status late" in said
        assert "No worker has evaluated the job" in said
        monkeypatch.setenv("RAG_OTEL_JOB_QUEUE_URL", f"{server.url}?max_jobs=7")
        assert main(["doctor"]) == 1
        assert "exists with other settings" in capsys.readouterr().out
        monkeypatch.setenv("RAG_OTEL_JOB_QUEUE_URL", server.url)
        server.kill()
        assert main(["doctor"]) == 1
        said = capsys.readouterr().out
        assert "the job queue does not answer: no connection" in said
        assert "Start the broker" in said
        assert "guest:guest" not in said
