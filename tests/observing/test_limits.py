"""Results of any size: what is done while the application waits is bounded, and what was left out is named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import rag_otel
from rag_otel import semconv
from rag_otel.model import UnevaluableReason
from rag_otel.observing.allowance import MAX_CHARACTERS, MAX_CHUNK_CHARACTERS, MAX_CHUNKS
from tests.observing.conftest import Recorder

MANY = 100_000


@rag_otel.observe
def answer(question: str, result: Any) -> Any:
    return result


def _nested(levels: int, width: int) -> Any:
    return {"text": "x"} if levels == 0 else [_nested(levels - 1, width)] * width


def _deep(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"content": made, "metadata": made}
    return made


class Lazy(Sequence[str]):
    """A list that fetches each of its texts; it counts how many were asked for."""

    asked = 0

    def __len__(self) -> int:
        return MANY

    def __getitem__(self, index: Any) -> Any:
        self.asked += 1
        return f"text {index}"


def _documents(make: Callable[[int], Any]) -> dict[str, Any]:
    return {"answer": "It is 330 m.", "documents": [make(n) for n in range(MANY)]}


RESULTS: dict[str, Callable[[], Any]] = {
    "strings": lambda: _documents(lambda n: f"chunk {n}"),
    "mappings": lambda: _documents(lambda n: {"id": str(n), "text": f"text {n}", "metadata": {"page": n}}),
    "one id": lambda: _documents(lambda n: {"id": "1", "text": f"text {n}"}),
    "pair": lambda: ("It is 330 m.", [{"text": f"text {n}"} for n in range(MANY)]),
    "columns": lambda: {"answer": "It is 330 m.", "chunks": {"documents": [["x"] * MANY], "ids": [list("1" * MANY)]}},
    "sources": lambda: {"answer": "It is 330 m.", "sources": [{"url": str(n)} for n in range(MANY)]},
    "components": lambda: {str(n): {"a": {"b": 1}} for n in range(MANY)},
    "messages": lambda: {"messages": [{"role": "user", "content": "x"}] * MANY},
    "blocks": lambda: {"answer": _nested(4, 40), "documents": ["x"]},
    "deep": lambda: {"answer": _deep(MANY), "documents": [_deep(5000)]},
    "embeddings": lambda: {"answer": "a", "documents": [{"text": "x", "metadata": {"e": [0.1] * MANY}}] * 20},
    "keys": lambda: {"answer": "a", "documents": [{"text": "x", "metadata": dict.fromkeys(map(str, range(MANY)))}] * 9},
}


def _steps(work: Callable[[], object]) -> int:
    """Lines of Python that are run: a measure of work that no busy machine changes."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("kind", RESULTS)
def test_the_work_is_bounded(kind: str, recorder: Recorder) -> None:
    """However large a result is, a bounded number of lines is run for it: 100,000 lines are about 10 ms."""
    result = RESULTS[kind]()
    assert _steps(lambda: answer("How high?", result)) < 100_000


def test_what_was_left_out_is_counted_on_the_span(recorder: Recorder) -> None:
    """The first chunks are kept, the span says how many are not, and the answer is not judged by them."""
    answer("How high?", RESULTS["mappings"]())
    taken = recorder.taken
    assert taken.chunks is not None
    assert [chunk.id for chunk in taken.chunks] == [str(n) for n in range(MAX_CHUNKS)]
    assert taken.omitted_chunks == MANY - MAX_CHUNKS
    written = sum(key.endswith("document.content") for key in recorder.span.attributes or {})
    assert recorder.attribute(semconv.OMITTED_DOCUMENTS) == MANY - written
    assert taken.unevaluable_reason is UnevaluableReason.TRUNCATED


def test_huge_texts_are_cut_and_counted(recorder: Recorder) -> None:
    """Question, answer and chunks beyond what is kept: counted together, and not judged in part."""
    huge = "ä" * 5_000_000
    answer(huge, {"answer": huge, "documents": [huge, "a second one"]})
    taken = recorder.taken
    assert len(taken.question or "") == len(taken.response or "") == MAX_CHARACTERS
    assert taken.chunks is not None
    assert sum(len(chunk.text) for chunk in taken.chunks) == MAX_CHUNK_CHARACTERS
    left_out = 3 * len(huge) + len("a second one") - 2 * MAX_CHARACTERS - MAX_CHUNK_CHARACTERS
    assert recorder.attribute(semconv.OMITTED_CHARACTERS) == left_out
    assert taken.unevaluable_reason is UnevaluableReason.TRUNCATED


def test_a_result_of_usual_size_is_whole(recorder: Recorder) -> None:
    answer("How high?", {"answer": "It is 330 m.", "documents": ["It is 330 m."] * MAX_CHUNKS})
    assert recorder.taken.unevaluable_reason is None


def test_a_lazy_list_is_asked_for_what_is_kept(recorder: Recorder) -> None:
    documents = Lazy()
    answer("How high?", {"answer": "It is 330 m.", "documents": documents})
    assert documents.asked <= MAX_CHUNKS + 1
    assert recorder.taken.omitted_chunks == MANY - MAX_CHUNKS


def test_recorded_chunks_share_one_limit(recorder: Recorder) -> None:
    @rag_otel.observe
    def searches(question: str) -> str:
        for n in range(8):
            rag_otel.record_chunks([f"chunk {n} {m}" for m in range(100)])
        return "It is 330 m."

    searches("How high?")
    assert len(recorder.taken.chunks or ()) == MAX_CHUNKS
    assert recorder.taken.omitted_chunks == 800 - MAX_CHUNKS


def test_a_selector_over_nested_lists_is_bounded(recorder: Recorder, caplog: pytest.LogCaptureFixture) -> None:
    """What a path leads to is not collected without end: it counts as not found, and the log says so once."""

    @rag_otel.observe(chunks="result.hits[*].passages[*].text")
    def selected(question: str) -> dict[str, Any]:
        return {"answer": "a", "hits": [{"passages": [{"text": "x"}] * 300}] * 300}

    assert _steps(lambda: selected("How high?")) < 100_000
    assert recorder.taken.chunks is None
    assert "more than is looked through" in caplog.text


def test_a_stream_of_mappings_costs_the_same_for_each(recorder: Recorder) -> None:
    """Pieces of an answer are joined once, not at every piece."""

    @rag_otel.observe
    def stream(question: str) -> Any:
        for n in range(2000):
            yield {"answer": f"{n} "}

    list(stream("How high?"))
    assert recorder.taken.response == "".join(f"{n} " for n in range(2000))
