"""The same metrics on live traces: by name, with a language model as the judge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters
from rag_otel_evaluators.metrics.context_relevance import ContextRelevance
from testkit.judge_server import JudgeServer, RateLimited
from testkit.missing_packages import without
from testkit.polling import eventually
from testkit.when_used import llm_model, warm_up
from testkit.word_overlap_judge import answer as oracle

PATIENT = rag_otel.SpanSettings(hold=60)
RATINGS = {"chunks": [{"chunk": 0, "rating": 2}], "rating": 2}


@pytest.fixture(scope="module", autouse=True)
def litellm_is_loaded() -> None:
    """Its import takes ten seconds on a busy machine, and a flush would not wait for the first answer."""
    warm_up("openai/test-judge")


@pytest.mark.usefixtures("uninstrumented")
def test_a_live_answer_is_scored_by_a_model_in_spanish(judge: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two settings and an address: score, judge and the Spanish prompts stand on the span; no judge call is one."""
    judge.answer = lambda request: RATINGS
    monkeypatch.setenv("OPENAI_BASE_URL", judge.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    rag_otel.instrument(
        provider,
        metrics=("context_relevance",),
        judge=rag_otel.JudgeSettings(model="openai/test-judge", language="es"),
        evaluations_per_minute=60,
        spans=PATIENT,
    )

    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        return {"answer": "Ulm está junto al Danubio.", "chunks": ["Ulm está junto al Danubio."]}

    answer("¿Dónde está Ulm?")
    assert rag_otel.flush(timeout=60)
    (span,) = exporter.get_finished_spans()
    assert span.attributes is not None
    prefix = "rag.evaluation.context_relevance."
    assert span.attributes[prefix + "score"] == 1.0
    assert span.attributes[prefix + "judge"] == "openai/test-judge"
    prompts = span.attributes[prefix + "prompts"]
    assert isinstance(prompts, tuple)
    assert [str(prompt).partition("@")[0] for prompt in prompts] == [
        "context_relevance_first/es",
        "context_relevance_second/es",
    ]
    assert "¿Dónde está Ulm?" in judge.requests[0].prompt


@pytest.mark.usefixtures("uninstrumented")
@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("openai/test-judge", "single"),
        ("cascade/openai/test-judge", "single"),
        ("openai/test-judge", "classifier"),
    ],
)
def test_faithfulness_by_a_model_of_ones_own_server(
    name: str, strategy: str, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge's address is a setting; alone, behind the embedded judge or before it, it decides on the span."""
    judge.answer = oracle
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    rag_otel.instrument(
        provider,
        judge=rag_otel.JudgeSettings(model=name, strategy=strategy, api_base=judge.url),
        evaluations_per_minute=60,
        spans=PATIENT,
    )

    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        return {
            "answer": "Ulm lies on the Danube. The minster of Ulm was once sold to a travelling circus.",
            "chunks": ["Ulm is a city on the Danube."],
        }

    answer("Where is Ulm?")
    assert rag_otel.flush(timeout=60)
    (span,) = exporter.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["rag.evaluation.faithfulness.score"] == 0.5
    assert "openai/test-judge" in str(span.attributes["rag.evaluation.faithfulness.judge"])
    assert judge.requests


@pytest.mark.usefixtures("uninstrumented")
def test_a_judge_of_whose_answers_nothing_can_be_read_has_failed(
    judge: JudgeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It says so on the span, and once in the log, which holds no text."""
    monkeypatch.setattr(counters, "_counts", type(counters._counts)())
    judge.answer = lambda request: "I am sorry, Dave."
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    rag_otel.instrument(
        provider, judge=rag_otel.JudgeSettings(model="openai/test-judge", api_base=judge.url), evaluations_per_minute=60
    )

    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        return {"answer": "Ulm lies on the Danube. It has a minster.", "chunks": ["Ulm is a city on the Danube."]}

    for n in range(2):
        answer(f"Where is Ulm, {n}?")
    assert rag_otel.flush(timeout=60)
    for span in exporter.get_finished_spans():
        assert span.attributes is not None
        assert span.attributes["rag.evaluation.status"] == "failed"
        assert span.attributes["rag.evaluation.status_reason"] == "unreadable_answer"
        assert "Dave" in str(span.attributes["rag.evaluation.faithfulness.explanation"])
    (line,) = [each.getMessage() for each in caplog.records if "cannot be read" in each.getMessage()]
    assert "openai/test-judge" in line
    assert "Dave" not in caplog.text


_ENDS = """
import sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
import rag_otel

provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
judge = rag_otel.JudgeSettings(model="openai/m", api_base=sys.argv[1])
rag_otel.instrument(provider, judge=judge, evaluations_per_minute=60)

@rag_otel.observe
def answer(question):
    return {"answer": "Ulm lies on the Danube.", "chunks": ["Ulm is a city on the Danube."]}

answer("Where is Ulm?")
sys.stdin.readline()
"""


@pytest.mark.server
def test_a_judge_that_refuses_as_the_script_ends_is_asked_again(judge: JudgeServer, tmp_path: Path) -> None:
    """The retry comes while exit handlers run: its connections are still usable, and nothing is said of open ones."""
    judge.answer = oracle
    judge.fail_next(RateLimited(retry_after_s=1.0))
    environ = {**without(["litellm"], tmp_path), "OPENAI_API_KEY": "none"}
    program = [sys.executable, "-c", _ENDS, judge.url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(program, env=environ, text=True, **pipes) as running:
        eventually(lambda: judge.requests, within_s=120)
        exported, said = running.communicate("\n", timeout=120)
    assert '"rag.evaluation.status": "evaluated"' in exported, said
    assert "losed" not in said + exported


def test_a_judge_that_may_cost_money_needs_a_cap() -> None:
    """Without evaluations_per_minute the error names the setting, and nothing is attached."""
    with pytest.raises(ConfigurationError, match="evaluations_per_minute"):
        rag_otel.instrument(TracerProvider(), judge="openai/gpt-4o-mini")
    own = ContextRelevance(model=llm_model("openai/gpt-4o-mini"))
    with pytest.raises(ConfigurationError, match="evaluations_per_minute"):
        rag_otel.instrument(TracerProvider(), metrics=[], evaluators=[own])


@pytest.mark.parametrize("judge", ["embedded", "openai/gpt-4o-mini"])
def test_a_cap_of_nothing_is_refused(judge: str) -> None:
    """A cap of 0 is not the default one: the error says how to evaluate nothing."""
    with pytest.raises(ConfigurationError, match="sample_ratio=0"):
        rag_otel.instrument(TracerProvider(), judge=judge, evaluations_per_minute=0)
