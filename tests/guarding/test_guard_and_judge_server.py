"""Guards with a language model over HTTP: paid for once, and the deadline holds while the judge hangs, fails or is not
allowed to see the answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import rag_otel
from rag_otel import Guard, observe
from rag_otel.guarding.check import MOST_OVERDUE, checks_of
from rag_otel.guarding.rules import REFUSAL
from rag_otel.safety.background_import import wait_until_imported
from rag_otel.setup.runtime import default_runtime
from testkit.http_receiver import Receiver, http_receiver
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError
from testkit.polling import eventually
from testkit.word_overlap_judge import answer as oracle
from tests.guarding.conftest import ALSO_GOOD, ANSWER, BAD, GOOD, PASSAGE, PATIENT_S
from tests.processing.otlp import received

QUESTION = "How tall is the tower?"


class Model:
    """The judge's server. It answers while `gate` is open."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.server = JudgeServer(answer=self.answer)

    def answer(self, request: JudgeRequest) -> Any:
        self.gate.wait(PATIENT_S)  # holds up the server's only thread: nobody gets an answer
        return oracle(request)


class Application:
    def __init__(self, model: Model, backend: Receiver) -> None:
        self.model = model
        self._backend = backend
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{backend.url}/v1/traces")))
        rag_otel.instrument(
            provider,
            judge=rag_otel.JudgeSettings(
                model="openai/judge",
                api_base=model.server.url,
                concurrency=MOST_OVERDUE + 2,
                local_only=["confidential"],
            ),
            evaluations_per_minute=60_000,
        )

    def spans(self, name: str) -> list[dict[str, Any]]:
        """The attributes of the spans of this name that have arrived at the backend, once all is evaluated."""
        assert rag_otel.flush(timeout=PATIENT_S, evaluate=True)
        return [attributes for span, attributes in received(self._backend) if span == name]

    def asked(self, name: str, guard: Guard, text: str = ANSWER) -> str:
        @observe(name=name, guard=guard)
        def answer(question: str) -> dict[str, Any]:
            return {"answer": text, "documents": [PASSAGE]}

        return str(answer(QUESTION)["answer"])


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    model = Model()
    with model.server:
        yield model
        model.gate.set()


@pytest.fixture(scope="module")
def application(model: Model) -> Iterator[Application]:
    """One set-up for the module: loading the judge's library takes seconds."""
    with http_receiver() as backend:
        rag_otel.uninstrument()
        made = Application(model, backend)
        assert wait_until_imported(300)
        assert made.asked("warm-up", Guard(deadline=PATIENT_S)) == REFUSAL
        yield made
        model.gate.set()
        rag_otel.uninstrument()


@pytest.fixture(autouse=True)
def _judge_is_well(application: Application) -> Iterator[None]:
    yield
    application.model.gate.set()
    under_way = checks_of(default_runtime())
    eventually(lambda: under_way.overdue == 0, within_s=PATIENT_S)


def requests(model: Model) -> int:
    return len(model.server.requests)


async def test_an_answer_is_judged_once(application: Application, model: Model) -> None:
    """One request for one answer, and its verdict is the evaluation that the backend gets."""
    before = requests(model)
    assert application.asked("once", Guard(action="remove", deadline=PATIENT_S)) == f"{GOOD} {ALSO_GOOD}"
    (span,) = application.spans("once")
    assert (span["rag.guard.outcome"], span["rag.evaluation.status"]) == ("removed", "evaluated")
    assert span["rag.evaluation.faithfulness.claim_count"] == 3
    assert requests(model) == before + 1
    assert (await rag_otel.guard(QUESTION, [PASSAGE], GOOD, deadline=PATIENT_S)).passed


@pytest.mark.parametrize(("default", "left"), [("allow", ANSWER), ("block", REFUSAL)])
async def test_the_deadline_holds_while_the_judge_hangs(
    application: Application, model: Model, default: Any, left: str
) -> None:
    """The answer leaves by default, while the judge has not answered yet. When it does, its verdict gets onto the span:
    there is no second request."""
    name, before = f"hang-{default}", requests(model)
    model.gate.clear()
    guard = Guard(deadline=0.05, default=default)
    assert application.asked(name, guard) == left
    assert (await rag_otel.guard(QUESTION, [PASSAGE], BAD, guard)).verdict.reason == "timeout"
    assert not model.gate.is_set()
    model.gate.set()
    (span,) = application.spans(name)
    assert (span["rag.guard.reason"], span["rag.guard.finding"]) == ("timeout", "not_judged")
    assert (span["rag.evaluation.status"], span["rag.evaluation.faithfulness.label"]) == ("evaluated", "unfaithful")
    eventually(lambda: requests(model) == before + 2, within_s=PATIENT_S)


def test_after_so_many_hanging_calls_nobody_waits(application: Application, model: Model) -> None:
    """The next calls leave by default at once and ask nothing, until one returns."""
    model.gate.clear()
    under_way = checks_of(default_runtime())
    for number in range(MOST_OVERDUE):
        assert application.asked("overdue", Guard(deadline=0.01), f"{BAD} ({number})").startswith(BAD)
    assert under_way.overdue == MOST_OVERDUE
    refused = rag_otel.guard_sync(QUESTION, [PASSAGE], BAD, Guard(deadline=PATIENT_S, default="block"))
    assert (refused.response, refused.verdict.reason) == (REFUSAL, "hanging")
    assert not model.gate.is_set()
    model.gate.set()
    eventually(lambda: under_way.overdue < MOST_OVERDUE, within_s=PATIENT_S)
    judged = rag_otel.guard_sync(QUESTION, [PASSAGE], BAD, deadline=PATIENT_S)
    assert (judged.response, judged.verdict.finding) == (REFUSAL, "unsupported")


def test_a_stream_goes_on_by_default_while_the_judge_hangs(application: Application, model: Model) -> None:
    """Held back until each deadline, then released; or ended."""
    model.gate.clear()

    def made(default: Any) -> str:
        @observe(guard=Guard(deadline=0.01, default=default), chunks=lambda question: [PASSAGE])
        def stream(question: str) -> Iterator[str]:
            yield f"{GOOD} It"
            yield " is 330 metres tall."

        return "".join(stream(QUESTION))

    assert made("allow") == f"{GOOD} {ALSO_GOOD}"
    assert made("block") == REFUSAL
    assert not model.gate.is_set()


def test_a_judge_that_fails(application: Application, model: Model) -> None:
    """An answer of 400 is no verdict: the default applies, and the span says that the judge failed."""
    model.server.fail_next(ServerError(status=400, code="bad_request", message="no"))
    assert application.asked("failing", Guard(deadline=PATIENT_S, default="block")) == REFUSAL
    (span,) = application.spans("failing")
    assert (span["rag.guard.reason"], span["rag.evaluation.status"]) == ("judge_error", "failed")


def test_a_confidential_answer_does_not_reach_the_judge(application: Application, model: Model) -> None:
    """Local judges only, and there is none: nothing is sent, and the default applies."""
    before = requests(model)
    assert application.asked("confidential", Guard(deadline=PATIENT_S)) == ANSWER
    (span,) = application.spans("confidential")
    assert (span["rag.guard.reason"], span["rag.evaluation.status_reason"]) == ("local_only", "local_only")
    assert requests(model) == before
