"""One plain sentence for terminal, alert and page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rag_otel.cli.drift import event_record
from rag_otel.drift.baseline import Baseline
from rag_otel.drift.change import Movement
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.observation import observation
from rag_otel.drift.sentence import counts, sentence
from testkit.drift_scores import result

SINCE_S = datetime(2026, 11, 20, 14, 5, tzinfo=UTC).timestamp()


def an_event(**changes: Any) -> DriftEvent:
    """Faithfulness fell, with a model that came in."""
    new = Movement(
        slice="model=llama-2",
        before=None,
        since=0.7,
        share_before=0.0,
        share_since=0.5,
        contribution=-0.1,
        explained=0.95,
    )
    fields: dict[str, Any] = {
        "series": "faithfulness.score",
        "slice": "all",
        "time_s": SINCE_S + 3 * 86_400,
        "since_s": SINCE_S,
        "earliest_s": SINCE_S,
        "latest_s": SINCE_S,
        "learned": Baseline.given(0.94),
        "floor": 0.92,
        "before": 0.94,
        "estimate": 0.84,
        "interval": (0.8, 0.9),
        "count": 31,
        "bad": 0.25,
        "bad_before": 1 / 16,
        "count_before": 500,
        "evidence": 0.1,
        "movements": (new,),
    }
    return DriftEvent(**fields | changes)


def moved(**changes: Any) -> tuple[Movement, ...]:
    return (replace(an_event().movements[0], **changes),)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            "Faithfulness fell from .94 to .84 on 20 November, when model=llama-2 came in; about 1 in 4 answers is now "
            "unfaithful, before 1 in 16",
        ),
        (
            {"time_s": SINCE_S + 3600, "movements": moved(before=0.9)},
            "Faithfulness fell from .94 to .84 on 20 November at 14:05 UTC, mostly in model=llama-2; about 1 in 4 "
            "answers is now unfaithful, before 1 in 16",
        ),
        (
            {"series": "faithfulness.risk", "bad": 0.7, "bad_before": 0.0, "movements": moved(before=0.9, since=None)},
            "The hallucination risk rose from .06 to .16 on 20 November, when model=llama-2 went away; about 7 in 10 "
            "answers are now unfaithful, before none",
        ),
        (
            {"series": "faithfulness.unscored", "before": 1.0, "estimate": 0.9, "bad": 0.1, "bad_before": 0.0},
            "The share of answers without a faithfulness verdict rose from .00 to .10 on 20 November, when "
            "model=llama-2 came in; about 1 in 10 answers is now without a verdict, before none",
        ),
        (
            {"series": "context_recall.score", "slice": "route=/ask", "deeper": True, "bad": 1.0, "bad_before": 0.5},
            "Context recall of route=/ask fell further from .94 to .84 on 20 November; all answers are now below .5, "
            "before 1 in 2",
        ),
        (
            {"before": 0.944, "estimate": 0.936, "movements": moved(explained=0.1), "bad": 0.06},
            "Faithfulness fell from .944 to .936 on 20 November",
        ),
        ({"resolved": True, "estimate": 0.93}, "Faithfulness is back at .93"),
    ],
)
def test_the_sentence(changes: dict[str, Any], said: str) -> None:
    event = an_event(**changes)
    assert sentence(event) == said
    assert event_record(event)["sentence"] == said


def test_how_many_answers_are_bad_now_and_before() -> None:
    assert counts(an_event(bad=9 / 31, bad_before=2 / 100, count_before=100)) == (
        "9 of the last 31 answers unfaithful, before 2 of 100"
    )
    assert counts(an_event(bad=None)) == ""


def test_the_label_says_which_answer_is_bad() -> None:
    """Of a score of .6 with an unsupported claim the label knows more than the number does."""
    plain = result(0, 0.6)
    evaluation = plain.evaluations[0]
    for label, score, bad in (
        ("unfaithful", 0.6, True),
        ("faithful", 0.4, False),
        (None, 0.4, True),
        (None, 0.6, False),
    ):
        seen = observation(replace(plain, evaluations=(replace(evaluation, label=label, score=score),)))
        assert seen is not None
        assert seen.bad is not None
        assert ("faithfulness.score" in seen.bad) is bad, (label, score)
