"""Workers in processes of their own, with a real broker, a real judge server and a real backend, and what ends them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.cli.main import main
from rag_otel_collectors.jobs.job import queued
from rag_otel_collectors.jobs.job_queue import JobQueue
from rag_otel_collectors.jobs.queue import DeadJob, QueuedJob, QueueSettings
from rag_otel_collectors.otlp.requests.span_records import attributes_from
from testkit.collector import a_backend
from testkit.decision_server import DecisionServer
from testkit.jobs import WorkerProcess, a_worker, an_evaluation_job, scores, some_jobs, targets
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError
from testkit.polling import eventually
from testkit.rabbitmq import RabbitNode
from tests.collectors.jobs.conftest import settings_of

pytestmark = pytest.mark.server
MakeSettings = Callable[..., QueueSettings]
POISON = "Beware."


def publish(settings: QueueSettings, jobs: Sequence[QueuedJob]) -> None:
    async def run() -> None:
        queue = JobQueue(settings)
        await queue.open()
        for job in jobs:
            await queue.publish(job)
        await queue.close()

    asyncio.run(run())


def dead_letters(settings: QueueSettings) -> Sequence[DeadJob]:
    async def run() -> Sequence[DeadJob]:
        queue = JobQueue(settings)
        await queue.open()
        try:
            return await queue.dead_letters()
        finally:
            await queue.close()

    return asyncio.run(run())


def poisonous(kill: Callable[[], None]) -> Callable[[JudgeRequest], Any]:
    """A judge whose answer to one job ends the worker that asks."""

    def answer(request: JudgeRequest) -> Any:
        if POISON in request.prompt:
            kill()
        return "{}"

    return answer


def asked(server: JudgeServer) -> Counter[str]:
    """How often each job was judged, by the number of its lighthouse."""
    return Counter(
        match[1] for each in list(server.requests) if (match := re.search(r"Lighthouse (\d+) ", each.prompt))
    )


def test_a_decision_model_judges_jobs(queue_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """As any judge does, by the settings of the worker."""
    settings = queue_settings()
    publish(settings, some_jobs(2))
    with DecisionServer() as judge, a_backend() as backend:
        monkeypatch.setenv("RAG_OTEL_JUDGE", "decisions/systemone/laya")
        monkeypatch.setenv("RAG_OTEL_JUDGE_API_BASE", judge.url)
        monkeypatch.setenv("RAG_OTEL_EVALUATIONS_PER_MINUTE", "600")
        with a_worker(settings, backend):
            eventually(lambda: set(scores(backend)) == targets(2))
        assert judge.paths == ["/v1/systemone"] * 2


def test_results_are_written_once_and_the_message_that_nobody_can_read_is_given_up(
    queue_settings: MakeSettings,
) -> None:
    """Exactly as often as the settings say is it started; and the other jobs do not wait for it."""
    settings = queue_settings()
    publish(settings, [QueuedJob(key="unreadable", tenant="", body=b"{"), *some_jobs(6)])
    with a_backend() as backend, a_worker(settings, backend) as worker:
        eventually(lambda: set(scores(backend)) == targets(6))
        (dead,) = eventually(lambda: dead_letters(settings))
        assert worker.terminate() == 0
    assert (dead.key, dead.starts) == ("unreadable", 3)
    assert "not an evaluation job" in dead.reason
    assert all(len(ids) == 1 for ids in scores(backend).values())
    span = next(each for each in backend.spans() if each.name == "evaluation faithfulness")
    attributes = attributes_from(span.attributes)
    assert attributes[semconv.STATUS] == "late"
    assert attributes[semconv.metric_key("faithfulness", "score")] == 1.0


def test_a_worker_that_is_killed_loses_and_doubles_nothing(queue_settings: MakeSettings) -> None:
    settings = queue_settings()
    with JudgeServer(latency_s=0.1) as judge, a_backend() as backend:
        with a_worker(settings, backend, judge) as worker:
            publish(settings, some_jobs(30))
            eventually(lambda: len(scores(backend)) >= 3)
            worker.kill()
            assert len(scores(backend)) < 30, "it was killed with jobs at hand"
        with a_worker(settings, backend, judge):
            eventually(lambda: set(scores(backend)) == targets(30))
    assert all(len(ids) == 1 for ids in scores(backend).values())
    assert dead_letters(settings) == []


@pytest.mark.slow(reason="a RabbitMQ node of its own starts twice")
def test_a_broker_that_is_killed_loses_and_doubles_nothing(own_rabbit: RabbitNode) -> None:
    """The worker that was connected to it goes on by itself, and says meanwhile that it gets no jobs."""
    own_rabbit.start()
    settings = settings_of(own_rabbit)()
    with (
        JudgeServer(latency_s=0.1) as judge,
        a_backend() as backend,
        a_worker(settings, backend, judge) as worker,
    ):
        publish(settings, some_jobs(30))
        eventually(lambda: len(scores(backend)) >= 3)
        assert worker.probe("/readyz") == (200, "ready")
        own_rabbit.kill()
        eventually(lambda: worker.probe("/readyz") == (503, "no connection to the job queue"))
        assert worker.probe("/healthz") == (200, "ok")
        assert worker.probe("/metrics")[0] == 404
        own_rabbit.start()
        eventually(lambda: worker.probe("/readyz")[0] == 200, within_s=120)
        publish(settings, some_jobs(5, first=30))
        eventually(lambda: set(scores(backend)) == targets(35), within_s=120)
        assert worker.terminate() == 0
    assert all(len(ids) == 1 for ids in scores(backend).values())
    assert dead_letters(settings) == []


def test_a_job_that_kills_its_worker_is_given_up_after_exactly_its_starts(queue_settings: MakeSettings) -> None:
    """No other job is given up with it, though the worker had several of them each time."""
    settings, workers = queue_settings(), []
    poison = queued(an_evaluation_job(99, response=f"{POISON} Lighthouse 99 was built in 1827."))
    with JudgeServer(answer=poisonous(lambda: workers[-1].kill()), latency_s=0.05) as judge, a_backend() as backend:
        publish(settings, [*some_jobs(3), poison, *some_jobs(9, first=3)])
        for _ in range(3):
            workers.append(WorkerProcess(settings, backend, judge))
            workers[-1].begin()
            eventually(lambda: workers[-1].process.poll() is not None, within_s=120)
        with a_worker(settings, backend, judge):
            eventually(lambda: set(scores(backend)) == targets(12), within_s=120)
            (dead,) = eventually(lambda: dead_letters(settings))
    assert (dead.key, dead.starts) == (poison.key, 3)
    assert "the worker ended" in dead.reason
    assert asked(judge)["99"] == 3
    assert all(len(ids) == 1 for ids in scores(backend).values())


def test_jobs_of_a_judge_that_was_away_are_listed_and_queued_again(
    queue_settings: MakeSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the command, as the runbook says."""
    settings = queue_settings(max_starts=2)
    with JudgeServer(fault_share=1.0, fault_kinds=(ServerError(),)) as judge, a_backend() as backend:
        publish(settings, some_jobs(3))
        with a_worker(settings, backend, judge) as worker:
            eventually(lambda: len(dead_letters(settings)) == 3)
            assert scores(backend) == {}
            judge.fault_share = 0.0
            options = worker.queue_options
            assert main(["dead-letters", "list", *options]) == 0
            shown = capsys.readouterr().out
            assert shown.count("HTTP 500") == 3
            assert f"{1:032x}" in shown
            assert main(["dead-letters", "retry", *options]) == 0
            assert "queued 3 jobs again" in capsys.readouterr().out
            eventually(lambda: set(scores(backend)) == targets(3))
    assert main(["dead-letters", "list", *options]) == 0
    assert "no dead letters" in capsys.readouterr().out


def test_sigterm_finishes_what_runs_and_leaves_the_rest(queue_settings: MakeSettings) -> None:
    """No job is started twice: what ran was acknowledged, what did not run was not taken."""
    settings = queue_settings(prefetch=2)
    with JudgeServer(latency_s=0.3) as judge, a_backend() as backend:
        publish(settings, some_jobs(12))
        with a_worker(settings, backend, judge) as worker:
            eventually(lambda: judge.in_flight == 2)
            assert worker.terminate() == 0
        assert 0 < len(scores(backend)) < 12
        assert set(asked(judge)) == {str(int(target, 16) - 1) for target in scores(backend)}
        judge.latency_s = 0.0
        with a_worker(settings, backend, judge):
            eventually(lambda: set(scores(backend)) == targets(12))
    assert set(asked(judge).values()) == {1}


def test_workers_share_a_budget(queue_settings: MakeSettings, tmp_path: Path) -> None:
    """Two workers with one ledger judge as many answers as it pays for, and say of the others that it refused them."""
    settings, ledger = queue_settings(), f"sqlite:{tmp_path / 'budgets.sqlite'}"
    options = {"budgets": "4 evaluations/day", "budget_store": ledger}
    with JudgeServer() as judge, a_backend() as backend:
        workers = [WorkerProcess(settings, backend, judge, **options).begin() for _ in range(2)]
        try:
            publish(settings, some_jobs(9))
            eventually(lambda: set(scores(backend)) == targets(9), within_s=120)
        finally:
            for worker in workers:
                worker.kill()
        assert len(asked(judge)) == 4
    reasons = [
        attributes_from(span.attributes).get(semconv.metric_key("faithfulness", "reason_code"))
        for span in backend.spans()
    ]
    assert reasons.count("budget") == 5
    assert dead_letters(settings) == []
