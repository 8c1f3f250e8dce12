"""Hostile text: the time of judging grows as the text does, and what is too long is judged in part, with a reason."""

from __future__ import annotations

import time

import pytest

from rag_otel.model import Verdict
from rag_otel_evaluators.cooperative import time_slice
from rag_otel_evaluators.metrics.faithfulness import LONGEST_ANSWER, MOST_CLAIMS, Faithfulness

CHUNK = "The tower is 330 metres high. It was built in 1889."
ANSWER = "The tower is 330 metres high."
TIMES = 64
HAND = 20
"""A linear step may take so many times longer than the text is; a quadratic one takes 64 times longer."""


def seconds(answer: str, chunk: str) -> float:
    best = []
    for _ in range(3):
        started = time.process_time()
        Faithfulness().evaluate_sync(question="How high?", chunks=[chunk], response=answer)
        best.append(time.process_time() - started)
    return min(best)


@pytest.mark.parametrize("piece", ["<", "[", "[1", "](", "[](", " -", "der kontext nicht ", "source "])
@pytest.mark.parametrize("place", ["answer", "chunk"])
def test_time_grows_with_the_text(piece: str, place: str) -> None:
    """64 times the text takes far less than 64 * 64 times as long."""
    seconds(ANSWER, CHUNK)

    def measure(characters: int) -> float:
        text = piece * (characters // len(piece))
        return seconds(text, CHUNK) if place == "answer" else seconds(ANSWER, text)

    assert measure(700 * TIMES) < HAND * TIMES * measure(700)


def longest_share(text: str) -> float:
    """Which share of the time one answer over one chunk, both of this text, is judged in a single step."""
    shares = []
    for _ in range(3):
        steps: list[float] = []
        done = False
        with time_slice(0.0):
            work = Faithfulness().evaluate(question="How high?", chunks=[text], response=text)
            while not done:
                started = time.thread_time()
                try:
                    work.send(None)
                except StopIteration:
                    done = True
                steps.append(time.thread_time() - started)
        shares.append(max(steps) / sum(steps))
    return min(shares)


@pytest.mark.parametrize("piece", ["5 May ", "1.May source ![", "0:00 1:01 2:02 ", "It is 5. "])
def test_no_step_takes_all_of_a_long_text(piece: str) -> None:
    """The interpreter is never kept for the whole of a long text: a step takes some hundredths of the time."""
    seconds(ANSWER, CHUNK)
    assert longest_share(piece * (700 * TIMES // len(piece))) < 1 / 4


@pytest.mark.parametrize(
    "answer", ["The tower is high. " * (LONGEST_ANSWER // 10), "A tower. \n\n" * (2 * MOST_CLAIMS)]
)
def test_a_long_answer_is_judged_in_part(answer: str) -> None:
    """Its beginning is judged, with a reason; nobody says that the whole is faithful."""
    result = Faithfulness().evaluate_sync(question=None, chunks=["The tower is high. A tower."], response=answer)
    assert 0 < len(result.claims) <= MOST_CLAIMS
    assert result.reason_code == "too_long"
    assert result.label != "faithful"


def test_a_question_in_a_chunk_supports_nothing() -> None:
    """What a chunk asks, it does not say; what it asks and affirms, it does."""
    asks = "Is the tower 999 metres high? Nobody knows."
    claim = "The tower is 999 metres high."
    result = Faithfulness().evaluate_sync(question=None, chunks=[asks], response=claim)
    assert result.claims[0].verdict is not Verdict.SUPPORTED
    affirms = "Is the tower 999 metres high? Yes."
    result = Faithfulness().evaluate_sync(question=None, chunks=[affirms], response=claim)
    assert result.claims[0].verdict is Verdict.SUPPORTED
