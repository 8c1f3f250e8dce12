"""Hidden content is not on the span. The evaluation in the process still uses it."""

from __future__ import annotations

from typing import Any

import pytest
from openinference.instrumentation import OITracer, TraceConfig
from opentelemetry.trace import StatusCode

from rag_otel import observe
from rag_otel.safety import privacy
from rag_otel.safety.privacy import EVERYTHING_HIDDEN, HiddenContent, content_hidden
from tests.observing.conftest import Recorder

SECRETS = ("secret question", "secret answer", "secret passage", "secret page")


def _ask(**options: Any) -> None:
    @observe(**options)
    def answer(question: str) -> dict[str, Any]:
        document = {"id": "d1", "text": "secret passage", "score": 0.5, "metadata": {"title": "secret page"}}
        return {"answer": "secret answer", "documents": [document]}

    answer("secret question")


def _written(recorder: Recorder) -> set[str]:
    everything = repr(dict(recorder.span.attributes or {})) + repr([event.attributes for event in recorder.span.events])
    return {secret for secret in SECRETS if secret in everything}


@pytest.mark.parametrize(
    ("environment", "written"),
    [
        ({}, set(SECRETS)),
        ({"OPENINFERENCE_HIDE_INPUTS": "true"}, {"secret answer", "secret passage", "secret page"}),
        ({"OPENINFERENCE_HIDE_INPUT_TEXT": "1"}, {"secret answer", "secret passage", "secret page"}),
        ({"OPENINFERENCE_HIDE_OUTPUTS": "TRUE"}, {"secret question"}),
        ({"OPENINFERENCE_HIDE_OUTPUT_TEXT": "true"}, {"secret question", "secret passage", "secret page"}),
        ({"OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS": "true"}, {"secret question", "secret answer"}),
        ({"OPENINFERENCE_HIDE_INPUTS": "false"}, set(SECRETS)),
        ({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}, set(SECRETS)),
        ({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}, set(SECRETS)),
        ({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "NO_CONTENT"}, set()),
        ({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "EVENT_ONLY"}, set()),
        ({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "ture"}, set()),
        ({"RAG_OTEL_CAPTURE_CONTENT": "false"}, set()),
    ],
)
def test_each_switch(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], written: set[str]
) -> None:
    """Each setting hides its part on the span and nothing in the snapshot."""
    monkeypatch.setattr(privacy, "_capture_content", None)  # nothing is set up
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    _ask()
    assert _written(recorder) == written
    assert (recorder.taken.question, recorder.taken.response) == ("secret question", "secret answer")
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["secret passage"]
    assert recorder.taken.capture_content is True


def test_hidden_text_is_redacted_and_ids_and_scores_stay(recorder: Recorder) -> None:
    """`capture_content=False` hides all text of one function and is recorded in the snapshot."""
    _ask(capture_content=False)
    assert dict(recorder.span.attributes or {}) == {
        "openinference.span.kind": "CHAIN",
        "input.value": "__REDACTED__",
        "output.value": "__REDACTED__",
        "retrieval.documents.0.document.content": "__REDACTED__",
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.score": 0.5,
    }
    assert recorder.taken.capture_content is False
    assert recorder.taken.response == "secret answer"


@pytest.mark.parametrize("name", ["HIDE_INPUTS", "HIDE_OUTPUTS", "HIDE_RETRIEVAL_DOCUMENTS"])
def test_the_same_attributes_as_openinference_hides(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """rag-otel hides the same attributes as OpenInference."""
    monkeypatch.setenv(f"OPENINFERENCE_{name}", "true")
    _ask()
    ours = dict(recorder.span.attributes or {})
    recorder.clear()
    tracer = OITracer(recorder.provider.get_tracer("openinference"), TraceConfig())
    with tracer.start_as_current_span("theirs", openinference_span_kind="chain") as span:
        span.set_attribute("input.value", "secret question")
        span.set_attribute("output.value", "secret answer")
        span.set_attribute("retrieval.documents.0.document.content", "secret passage")
    theirs = dict(recorder.span.attributes or {})
    assert {key: ours[key] for key in theirs} == theirs


def test_an_errors_message_may_quote_what_is_hidden(recorder: Recorder) -> None:
    """If content is hidden, the span has the type of the error without its message."""

    @observe(capture_content=False)
    def answer(question: str) -> str:
        raise ValueError(f"cannot answer {question!r}")

    with pytest.raises(ValueError, match="secret question"):
        answer("secret question")
    assert _written(recorder) == set()
    assert recorder.span.status.status_code is StatusCode.ERROR
    assert recorder.span.status.description == "ValueError"
    assert [dict(event.attributes or {}) for event in recorder.span.events] == [{"exception.type": "ValueError"}]


@pytest.mark.parametrize("told", [True, False])
def test_what_the_settings_say_counts(recorder: Recorder, monkeypatch: pytest.MonkeyPatch, told: bool) -> None:
    """`instrument(capture_content=...)` applies to functions decorated before it, and overrides the environment
    variable."""

    @observe
    def answer(question: str) -> str:
        return "secret answer"

    monkeypatch.setattr(privacy, "_capture_content", None)
    monkeypatch.setenv(privacy.CAPTURE_ENV, str(not told))
    privacy.configure(capture_content=told)
    answer("secret question")
    assert _written(recorder) == ({"secret question", "secret answer"} if told else set())


def test_the_switches_read_from_any_environment() -> None:
    """The settings can be read from a given environment together with the option of a call."""
    assert content_hidden({}) == HiddenContent()
    assert content_hidden({}, capture_content=False) == EVERYTHING_HIDDEN
    hidden = content_hidden({"OPENINFERENCE_HIDE_INPUTS": "true"})
    assert hidden == HiddenContent(question=True)
    assert hidden.anything
    assert not HiddenContent().anything
