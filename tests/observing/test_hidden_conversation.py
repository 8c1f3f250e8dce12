"""What a privacy setting hides of a conversation: memory is from documents, and a history holds earlier answers."""

from __future__ import annotations

import pytest

from rag_otel import semconv
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.observing.content import content_attributes
from rag_otel.safety.privacy import HiddenContent

SAID = Snapshot(question="q", response="r", memory=("a note",), history=("user", "hello", "assistant", "an answer"))


@pytest.mark.parametrize(
    ("question", "response", "documents", "left"),
    [
        (False, False, False, {semconv.MEMORY, semconv.HISTORY}),
        (False, True, False, {semconv.MEMORY}),
        (False, False, True, {semconv.HISTORY}),
        (True, False, False, set()),
    ],
)
def test_what_is_hidden_is_not_in_memory_or_history(
    question: bool, response: bool, documents: bool, left: set[str]
) -> None:
    """Hidden answers stay hidden in the history, hidden documents in the memory, and questions in both."""
    hidden = HiddenContent(question=question, response=response, documents=documents)
    written = content_attributes(SAID, hidden=hidden)
    assert {semconv.MEMORY, semconv.HISTORY} & written.keys() == left
