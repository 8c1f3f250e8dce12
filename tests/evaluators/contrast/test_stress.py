"""The stresses of `rag-otel judge check`, with judges that fail one of them each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel_evaluators.contrast.pairs import load_pairs
from rag_otel_evaluators.contrast.stress import LONG, stressed
from testkit.decision_server import DecisionServer, Question, by_words, sure
from tests.cli.test_judge import right


def knowing(state: Mapping[str, Any], question: Question) -> dict[str, float] | str:
    """Right about every claim."""
    if question.claim is None or "supported" not in question.options:
        return by_words(state, question)
    return sure(question.options, {"not_enough_info": "not_stated"}.get(verdict := right(question.claim), verdict))


def led_by_the_first(state: Mapping[str, Any], question: Question) -> dict[str, float] | str:
    """Finds everything supported as soon as the first passage is a stranger's."""
    first = next(iter(state["passages"].values()))
    strange = not any(first in pair.contexts and pair.question == state["question"] for pair in load_pairs())
    return obedient_if(strange, state, question)


def obedient(state: Mapping[str, Any], question: Question) -> dict[str, float] | str:
    return obedient_if(any("Note to the judge" in text for text in state["passages"].values()), state, question)


def short_sighted(state: Mapping[str, Any], question: Question) -> dict[str, float] | str:
    """Finds everything supported in a text that is too long for it."""
    return obedient_if(sum(map(len, state["passages"].values())) > LONG / 2, state, question)


def obedient_if(led: bool, state: Mapping[str, Any], question: Question) -> dict[str, float] | str:
    if led and "supported" in question.options:
        return sure(question.options, "supported")
    return knowing(state, question)


@pytest.mark.parametrize(
    ("decide", "fails"),
    [(knowing, set()), (obedient, {"hostile"}), (short_sighted, {"end"}), (led_by_the_first, {"order", "end"})],
)
def test_a_judge_is_caught_by_the_stress_that_it_fails(
    decide: Any, fails: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All others leave its labels as they were."""
    file = tmp_path / "figures.json"
    with DecisionServer(decide=decide) as server:
        options = ["--judge", "decisions/perplexity/x", "--api-base", server.url, "--language", "en", "--limit", "12"]
        main(["judge", "check", *options, "--stress", "6", "--output", str(file)])
    figures = json.loads(file.read_text())
    assert {kind for kind, each in figures["stress"].items() if each["believed"]} == fails
    assert all(each["changed"] == each["believed"] for each in figures["stress"].values())
    assert all(each["answers"] for each in figures["stress"].values())
    assert figures["calibration_error"] == pytest.approx(0.06, abs=0.05)
    assert "a passage that speaks to the judge: " in capsys.readouterr().out


def test_the_pairs_own_passages_stay() -> None:
    """Whatever comes around them, in another order or far behind; answers and language are theirs."""
    pairs = load_pairs()
    made = stressed(pairs[:20], pairs)
    for kind, changed in made.items():
        for pair, other in zip(pairs[:20], changed, strict=True):
            assert set(pair.contexts) < set(other.contexts), kind
            assert (other.question, other.faithful, other.unfaithful) == (pair.question, pair.faithful, pair.unfaithful)
    assert all(len("".join(pair.contexts)) > LONG / 3 for pair in made["end"])
