"""The first things that a visitor tries: most labels are right, and none is sure and wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rag_otel_evaluators.metrics.faithfulness import Faithfulness

HERE = Path(__file__).parent


@pytest.mark.parametrize(("name", "least_right"), [("first_tries", 0.73), ("first_tries_unseen", 0.8)])
def test_most_labels_are_right_and_none_is_sure_and_wrong(name: str, least_right: float) -> None:
    """`label` is 1 for an unfaithful answer; an answer that only abstains is right without a label."""
    rows = [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    right, sure_and_wrong = 0, []
    for row in rows:
        result = Faithfulness().evaluate_sync(
            question=row["question"], chunks=row["contexts"], response=row["response"]
        )
        right += (result.label == "unfaithful") == bool(row["label"])
        if result.risk is not None and (result.risk < 0.1 if row["label"] else result.risk > 0.9):
            sure_and_wrong.append(row["response"])
    assert right >= least_right * len(rows)
    assert sure_and_wrong == []


README = Path(__file__).parents[4] / "README.md"


def test_the_readme_shows_what_the_judge_says() -> None:
    """The example of its table of keys comes out as printed."""
    shown = dict(
        re.findall(
            r"^\| `rag\.evaluation\.faithfulness\.([\w.]+)` \| `([^`]+)`", README.read_text("utf-8"), re.MULTILINE
        )
    )
    context = f"Paris is the capital of France. {shown['claims.1.quote']}"
    response = f"Paris is the capital of France. {shown['claims.1.text']}"
    result = Faithfulness().evaluate_sync(question="What is Paris?", chunks=[context], response=response)
    claim = result.claims[1]
    assert (f"{result.score}", f"{result.risk:.2f}") == (shown["score"], shown["risk"])
    assert claim.verdict == shown["claims.1.verdict"]
    assert claim.quotes[0].text == shown["claims.1.quote"]
