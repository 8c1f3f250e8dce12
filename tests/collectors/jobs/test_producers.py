"""The application and the collector as producers of jobs, with a real broker that is there, away or full."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel import semconv
from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters
from rag_otel_collectors.jobs.delivery import Delivery
from rag_otel_collectors.jobs.job import EvaluationJob, decode
from rag_otel_collectors.jobs.job_queue import JobQueue
from rag_otel_collectors.jobs.queue import QueueSettings
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.collector import a_backend, a_collector
from testkit.jobs import a_worker, address_of, scores
from testkit.otlp_requests import ANSWER, CHUNK, QUESTION, a_rag_trace, a_request
from testkit.polling import eventually
from testkit.rabbitmq import RabbitNode
from tests.collectors.jobs.conftest import settings_of

pytestmark = pytest.mark.server
MakeSettings = Callable[..., QueueSettings]


def taken(settings: QueueSettings, count: int) -> list[EvaluationJob]:
    """The next jobs of a queue."""

    async def run() -> list[EvaluationJob]:
        jobs: list[EvaluationJob] = []
        enough = asyncio.Event()

        async def handle(delivery: Delivery) -> None:
            jobs.append(decode(delivery.body))
            assert delivery.key == jobs[-1].key
            await delivery.ack()
            if len(jobs) >= count:
                enough.set()

        queue = JobQueue(settings)
        await queue.open()
        await queue.consume(handle)
        async with asyncio.timeout(30):
            await enough.wait()
        await queue.drain(1)
        await queue.close()
        return jobs

    return asyncio.run(run())


class App:
    """An instrumented application that keeps its spans."""

    def __init__(self, settings: QueueSettings, **more: Any) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource({"service.name": "shop"}))
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        judge = rag_otel.JudgeSettings(job_queue_url=address_of(settings))
        rag_otel.instrument(provider, judge=judge, **more)

    def attributes(self) -> list[dict[str, Any]]:
        """Of every span so far."""
        return [dict(span.attributes or {}) for span in self._exporter.get_finished_spans()]


@rag_otel.observe(tags={"tenant": lambda question: "acme"})
def answer(question: str) -> dict[str, object]:
    return {"answer": ANSWER, "chunks": [{"text": CHUNK, "id": "kap-arkona", "source": {"page": 3}}]}


@rag_otel.observe(capture_content=False)
def discreet(question: str) -> dict[str, object]:
    return {"answer": ANSWER, "chunks": [CHUNK]}


@pytest.mark.usefixtures("uninstrumented")
def test_an_application_publishes_what_a_worker_needs(queue_settings: MakeSettings) -> None:
    """The span goes on at once; question, chunks, answer, sampling decision and resource are in the job."""
    settings = queue_settings()
    app = App(settings, project_name="shop-project")
    answer(QUESTION)
    assert rag_otel.flush(timeout=60)
    (written,) = app.attributes()
    assert (written[semconv.STATUS], written[semconv.STATUS_REASON]) == ("late", "queued")
    (job,) = taken(settings, 1)
    assert (job.trace.question, job.trace.response, job.tenant) == (QUESTION, ANSWER, "acme")
    assert [(chunk.id, chunk.text) for chunk in job.trace.chunks] == [("kap-arkona", CHUNK)]
    assert job.decision.probability == 1.0
    assert job.resource["service.name"] == "shop"
    assert job.project == "shop-project"


@pytest.mark.usefixtures("uninstrumented")
def test_what_must_not_leave_the_process_is_not_published(queue_settings: MakeSettings) -> None:
    """Jobs carry the texts, so a call that hides them has none, and its span says why."""
    settings = queue_settings()
    app = App(settings)
    discreet(QUESTION)
    answer(QUESTION)
    assert rag_otel.flush(timeout=60)
    hidden, shown = sorted(app.attributes(), key=lambda each: str(each[semconv.STATUS]), reverse=True)
    assert (hidden[semconv.STATUS], hidden[semconv.STATUS_REASON]) == ("skipped", "redacted")
    assert shown[semconv.STATUS] == "late"
    assert [job.tenant for job in taken(settings, 1)] == ["acme"]
    with pytest.raises(ConfigurationError, match="capture_content"):
        App(settings, capture_content=False)
    with pytest.raises(ConfigurationError, match="the workers evaluate"):
        App(settings, evaluators=[Faithfulness()])


@pytest.mark.usefixtures("uninstrumented")
@pytest.mark.slow(reason="a RabbitMQ node of its own starts")
def test_a_broker_that_is_away_holds_nobody_up_and_gets_every_job_later(
    own_rabbit: RabbitNode, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The application keeps its jobs in memory; the collector keeps them on disk, and is killed meanwhile.

    The client's own log line for every attempt to connect stays out of the application's log.
    """
    make = settings_of(own_rabbit)
    of_app, of_collector = make(), make(name="of-the-collector")
    app = App(of_app)
    arguments = ["--set", f"job_queue_url={address_of(of_collector)}"]
    with a_backend() as backend:
        arguments += ["--backend", backend.address]
        for _ in range(3):
            answer(QUESTION)
        eventually(lambda: [each[semconv.STATUS] for each in app.attributes()] == ["late"] * 3)
        assert not rag_otel.flush(timeout=0.5), "the broker has nothing yet"
        with a_collector(tmp_path / "data", *arguments) as collector:
            collector.export(a_request(*a_rag_trace(), *a_rag_trace()))
            eventually(lambda: len(backend.attributes("answer")) == 2)
            eventually(lambda: collector.metric("job_retries_total") > 0)
            collector.kill()
            own_rabbit.start()
            collector.start()
            eventually(lambda: collector.metric("published_jobs_total") == 2)
            assert collector.stop() == 0
        written = backend.attributes("answer")
        assert {(each[semconv.STATUS], each[semconv.STATUS_REASON]) for each in written} == {("late", "queued")}
        assert [each for each in caplog.records if each.threadName == "rag-otel-job-queue"] == []
        assert len(taken(of_app, 3)) == 3
        with a_worker(of_collector, backend):
            eventually(lambda: len(scores(backend)) == 2)
    answers = {span.span_id.hex() for span in backend.spans() if span.name == "answer"}
    assert set(scores(backend)) == answers


@pytest.mark.usefixtures("uninstrumented")
@pytest.mark.slow(reason="a RabbitMQ node of its own starts")
def test_a_flush_waits_for_a_broker_that_comes_back(own_rabbit: RabbitNode) -> None:
    """The jobs are in memory alone: who gives a flush time wants them to arrive."""
    settings = settings_of(own_rabbit)()
    app = App(settings)
    answer(QUESTION)
    eventually(lambda: [each[semconv.STATUS] for each in app.attributes()] == ["late"])
    assert not rag_otel.flush(timeout=0.5), "the broker has nothing yet"
    flushed: list[bool] = []
    flushing = threading.Thread(target=lambda: flushed.append(rag_otel.flush(timeout=300)))
    flushing.start()
    failures = counters.snapshot().get("delivery.jobs.retries", 0) + 4
    eventually(lambda: flushed or counters.snapshot().get("delivery.jobs.retries", 0) >= failures, within_s=60)
    assert not flushed, "it gave up while the broker was away"
    own_rabbit.start()
    flushing.join()
    assert flushed == [True]
    assert len(taken(settings, 1)) == 1
