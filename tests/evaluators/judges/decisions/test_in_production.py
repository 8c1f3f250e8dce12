"""A decision model in every shape, on the rails of all judges: settings, masks, records, local routes, caches, caps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel import semconv
from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.settings.groups import JudgeSettings
from rag_otel_evaluators import evaluate
from rag_otel_evaluators.build import price_of_judge
from rag_otel_evaluators.llm.egress import Egress
from rag_otel_evaluators.llm.memory_cache import MemoryCache
from rag_otel_evaluators.llm.rate_limits import RateLimits
from testkit.collector import a_backend, a_collector
from testkit.decision_server import DecisionServer
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.planted_secrets import planted_case
from testkit.polling import eventually
from testkit.settings import grouped
from tests.collectors.backfill.stored import a_trace, written
from tests.evaluators.judges.decisions.kit import ANSWER, CHUNKS, CLAIMS, KEY, OPENAI, QUESTION, SYSTEM_ONE, metric_at

TEXT = "Write to ann@example.org with the key sk-abcdefgh12345678."
PREFIX = "rag.evaluation.faithfulness."


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SYSTEMONE_API_KEY", KEY)


@pytest.fixture
def exporter(uninstrumented: None) -> InMemorySpanExporter:
    return InMemorySpanExporter()


def instrumented(exporter: InMemorySpanExporter, judge: JudgeSettings, **settings: Any) -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    rag_otel.instrument(provider, judge=judge, **grouped(**{"evaluations_per_minute": 600, **settings}))


@rag_otel.observe(name="faq")
def faq(question: str) -> dict[str, object]:
    return {"answer": ANSWER, "chunks": CHUNKS}


@rag_otel.observe(name="support/chat")
def support(question: str) -> dict[str, object]:
    return {"answer": TEXT, "chunks": [TEXT]}


def finished(exporter: InMemorySpanExporter) -> dict[str, dict[str, Any]]:
    assert rag_otel.flush(timeout=60)
    return {span.name: dict(span.attributes or {}) for span in exporter.get_finished_spans()}


@pytest.mark.parametrize("model", [OPENAI, SYSTEM_ONE])
def test_a_live_answer_has_claim_verdicts_on_its_span(
    server: DecisionServer, exporter: InMemorySpanExporter, model: str
) -> None:
    """Settings alone; the version that answered stands beside the judge, and the judge's calls are no spans."""
    server.model = "v-2"
    instrumented(exporter, JudgeSettings(model=model, api_base=server.url))
    faq(QUESTION)
    spans = finished(exporter)
    assert len(server.bodies) == 1
    span = spans["faq"]
    assert span[PREFIX + "score"] == pytest.approx(1 / 3)
    assert span[PREFIX + "judge"] == model
    assert span[PREFIX + "answered_by"] == f"{model.rpartition('/')[0]}/v-2"
    verdicts = {key: value for key, value in span.items() if re.fullmatch(r".*claims\.\d\.verdict", key)}
    assert sorted(verdicts.values()) == ["contradicted", "not_enough_info", "supported"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(spans, default=str)


def test_a_vendor_judges_nothing_without_a_cap() -> None:
    """All traffic for a vendor is a decision of its own."""
    with pytest.raises(ConfigurationError, match="evaluations_per_minute"):
        rag_otel.instrument(TracerProvider(), judge=OPENAI)


def test_a_route_for_local_judges_alone_is_skipped(server: DecisionServer, exporter: InMemorySpanExporter) -> None:
    """Nothing leaves for it; other routes are judged."""
    instrumented(exporter, JudgeSettings(model=SYSTEM_ONE, api_base=server.url, local_only=["support*"]))
    support("Whom do I ask?")
    faq(QUESTION)
    spans = finished(exporter)
    assert spans["support/chat"][semconv.STATUS_REASON] == "local_only"
    assert PREFIX + "score" in spans["faq"]
    assert "ann@example.org" not in json.dumps(server.bodies)


@pytest.mark.parametrize("model", [OPENAI, SYSTEM_ONE, "decisions/hosted_vllm/qwen3"])
def test_what_leaves_is_masked_and_recorded(
    server: DecisionServer,
    exporter: InMemorySpanExporter,
    tmp_path: Path,
    model: str,
    request: pytest.FixtureRequest,
) -> None:
    """One placeholder for one value in the state and in the questions; claims and quotes have the original text."""
    if "vllm" in model:
        request.getfixturevalue("litellm_is_loaded")
    file = tmp_path / "sent.jsonl"
    masked = JudgeSettings(model=model, api_base=server.url, mask=["secrets", "email"], record_file=str(file))
    instrumented(exporter, masked)
    support("Is ann@example.org right?")
    span = finished(exporter)["support/chat"]
    sent = json.dumps(server.bodies)
    assert "ann@example.org" not in sent
    assert "sk-abcdefgh" not in sent
    assert sent.count("Write to <EMAIL_1> with the key <SECRET_1>.") == 2
    (line,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert line["judge"] == model
    assert line["host"] in server.url
    assert all(message["content"].split("«")[-1][:20] in sent for message in line["messages"])
    assert span[PREFIX + "score"] == 1.0
    assert span[PREFIX + "claims.0.quote"] == TEXT


async def test_planted_secrets_do_not_leave(server: DecisionServer) -> None:
    """Of every class; without masks they do. The question about the end of the text survives all masks."""
    cases = [planted_case(seed) for seed in range(5)]
    for case in cases:
        metric = metric_at(server.url, egress=Egress(mask=("secrets", "email", "phone", "iban", "card", "ip")))
        result = await metric.evaluate(question=case.question, chunks=case.chunks, response=case.response)
        assert result.reason_code is None
    assert not [secret for case in cases for secret in case.secrets if secret in json.dumps(server.bodies)]
    await metric_at(server.url, egress=Egress(mask=())).evaluate(
        question=QUESTION, chunks=cases[0].chunks, response=cases[0].response
    )
    assert cases[0].secrets[0] in json.dumps(server.bodies)


async def test_an_answer_is_paid_for_once(server: DecisionServer) -> None:
    """The cache knows question, passages, claims, model and address."""
    cache = MemoryCache()
    for response in (ANSWER, ANSWER, CLAIMS[0]):
        result = await metric_at(server.url, cache=cache).evaluate(question=QUESTION, chunks=CHUNKS, response=response)
        assert result.score is not None
    assert len(server.bodies) == 2
    again = await metric_at(server.url, cache=cache).evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    assert again.usage is not None
    assert (again.usage.calls, again.usage.cached_calls, again.usage.cost_usd) == (0, 1, 0.0)


async def test_useless_answers_open_the_breaker(server: DecisionServer) -> None:
    """Eight answers in a row without a distribution, all on the bill: then nothing is called for a while."""
    server.change = lambda answer: {**answer, "answers": {}}
    metric = metric_at(server.url)
    for number in range(8):
        result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=f"Pro costs {number} dollars.")
        assert result.score is None
    with pytest.raises(RetryableError, match="is not called for now"):
        await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    assert len(server.bodies) == 8


@pytest.mark.parametrize("limits", [RateLimits(requests_per_minute=1), RateLimits(tokens_per_minute=60)])
async def test_calls_and_tokens_a_minute_are_capped(server: DecisionServer, limits: RateLimits) -> None:
    """What would wait longer than its evaluation lasts is not asked."""
    from rag_otel.evaluation.evaluate import evaluate as evaluated

    metric = metric_at(server.url, limits=limits)
    results = [
        await evaluated(metric, question=QUESTION, chunks=CHUNKS, response=f"Pro costs {n} dollars.", timeout_s=5)
        for n in range(4)
    ]
    assert [result.reason_code for result in results][1:] == ["budget"] * 3


def test_a_price_of_ones_own_is_counted(server: DecisionServer, uninstrumented: None) -> None:
    """Of a server of one's own none is known."""
    judge = {"model": SYSTEM_ONE, "api_base": server.url, "input_price": 0.1}
    rows = [{"question": QUESTION, "contexts": CHUNKS, "response": ANSWER}]
    (result,) = evaluate(rows, judge=judge, progress=False).results
    usage = result.evaluations[0].usage
    assert usage is not None
    assert usage.cost_usd == pytest.approx(usage.input_tokens * 1e-7)
    assert price_of_judge(OPENAI) == (0.10, 0.0)
    assert price_of_judge(SYSTEM_ONE) is None


def test_a_budget_in_dollars_ends_a_run(server: DecisionServer) -> None:
    """Rows beyond it are not asked about."""
    rows = [{"question": QUESTION, "contexts": CHUNKS, "response": f"Pro costs {n} dollars."} for n in range(8)]
    judge = {"model": OPENAI, "api_base": server.url}
    run = evaluate(rows, judge=judge, budget_usd=0.0001, concurrency=1, progress=False)
    assert 1 <= len(server.bodies) < 8
    assert run.results[-1].evaluations[0].reason_code == "budget"


def test_files_and_the_check_of_a_judge(
    server: DecisionServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rag-otel evaluate` and `rag-otel judge check` with an address."""
    data, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    data.write_text(json.dumps({"question": QUESTION, "contexts": CHUNKS, "response": ANSWER}) + "\n")
    options = ["--judge", SYSTEM_ONE, "--api-base", server.url]
    assert main(["evaluate", str(data), *options, "--output", str(out)]) == 0
    (row,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert row["faithfulness"] == pytest.approx(1 / 3)
    main(["judge", "check", *options, "--limit", "10"])
    said = capsys.readouterr().out
    assert f"{SYSTEM_ONE}, version" in said
    assert "an answer, 1 at most" in said


def test_stored_answers_are_judged_once(
    server: DecisionServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backfill; what it has written has nothing left to do, though another version answered than was asked."""
    server.model = "v-2"
    monkeypatch.setenv("RAG_OTEL_JUDGE_API_BASE", server.url)
    source, output = written(tmp_path / "in.jsonl", a_trace()), tmp_path / "out.jsonl"
    assert main(["traces", "backfill", str(source), "--output", str(output), "--judge", SYSTEM_ONE]) == 0
    assert len(server.bodies) == 1
    assert "decisions/systemone/v-2" in output.read_text()
    assert (
        main(["traces", "backfill", str(output), "--output", str(tmp_path / "again.jsonl"), "--judge", SYSTEM_ONE]) == 0
    )
    assert len(server.bodies) == 1


def test_a_guard_asks_it(server: DecisionServer, exporter: InMemorySpanExporter) -> None:
    """An answer with unsupported claims does not leave; it is judged once."""
    instrumented(exporter, JudgeSettings(model=SYSTEM_ONE, api_base=server.url))

    @rag_otel.observe(name="guarded", guard=rag_otel.Guard(deadline=60.0))
    def guarded(question: str) -> dict[str, object]:
        return {"answer": ANSWER, "chunks": CHUNKS}

    left = guarded(QUESTION)
    assert CLAIMS[1] not in str(left)
    assert "guarded" in finished(exporter)
    assert len(server.bodies) == 1


@pytest.mark.server
def test_a_collector_asks_it(server: DecisionServer, tmp_path: Path) -> None:
    """Settings in the environment of the evaluation processes."""
    environ = {
        "RAG_OTEL_JUDGE": SYSTEM_ONE,
        "RAG_OTEL_JUDGE_API_BASE": server.url,
        "RAG_OTEL_EVALUATIONS_PER_MINUTE": "600",
        "SYSTEMONE_API_KEY": KEY,
    }
    with (
        a_backend() as backend,
        a_collector(tmp_path / "data", "--backend", backend.address, "--workers", "1", env=environ) as collector,
    ):
        collector.export(a_request(*a_rag_trace()))

        def judges() -> set[Any]:
            names = {each.name for each in backend.spans()}
            return {
                found[PREFIX + "judge"]
                for name in names
                for found in backend.attributes(name)
                if PREFIX + "judge" in found
            }

        assert eventually(judges) == {SYSTEM_ONE}
    assert server.paths == ["/v1/systemone"]
