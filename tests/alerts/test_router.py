"""Which results raise an alert, and how often."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel.alerts.message import to_dict
from rag_otel.alerts.router import AlertRouter
from rag_otel.model import Verdict
from tests.results import QUESTION, SECRET_TEXTS, a_result, an_evaluation


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_unfaithful_answer_raises_an_alert_with_its_evidence() -> None:
    """Question, unsupported claims with their nearest quotes, score, risk, where it was and the link."""
    router = AlertRouter([], link=lambda result: f"http://phoenix/{result.trace.target.trace_id}")
    result = a_result()
    (alert,) = router.consider(result)
    assert alert.name == "unfaithful_answer"
    assert alert.question == QUESTION
    assert [claim.verdict for claim in alert.claims] == [Verdict.NOT_ENOUGH_INFO, Verdict.CONTRADICTED]
    assert alert.claims[1].quotes[0].chunk_id == "moon-1"
    assert alert.risk == 0.93
    assert alert.score == pytest.approx(1 / 3)
    assert (alert.service, alert.route, alert.target) == ("observatory", "answer", result.trace.target)
    assert alert.link == f"http://phoenix/{result.trace.target.trace_id}"
    assert alert.time_ns == result.trace.start_ns


@pytest.mark.parametrize("label", ["faithful", None])
def test_anything_else_raises_none(label: str | None) -> None:
    """A low score alone is no alert: the label is the decision."""
    assert not AlertRouter([]).consider(a_result(an_evaluation(label=label, score=0.0)))


def test_one_problem_is_told_once_a_cooldown_and_what_was_held_back_is_carried() -> None:
    """The next alert of the fingerprint says how many came in between."""
    clock = Clock()
    router = AlertRouter([], cooldown_s=300, clock=clock)
    assert router.consider(a_result())[0].suppressed == 0
    clock.now += 299
    assert not router.consider(a_result())
    assert not router.consider(a_result())
    clock.now += 1
    assert router.consider(a_result())[0].suppressed == 2
    clock.now += 300
    assert router.consider(a_result())[0].suppressed == 0


@pytest.mark.parametrize("difference", [{"service": "library"}, {"route": "summarise"}])
def test_another_service_or_route_is_another_problem(difference: dict[str, Any]) -> None:
    """The cooldown of one does not silence the other."""
    router = AlertRouter([], clock=Clock())
    (first,) = router.consider(a_result())
    (second,) = router.consider(a_result(**difference))
    assert first.fingerprint != second.fingerprint


def test_all_fingerprints_together_stay_below_the_cap() -> None:
    """At most so many in any minute, held-back ones counted for their own fingerprint."""
    clock = Clock()
    router = AlertRouter([], cooldown_s=0, per_minute=2, clock=clock)
    routes = ["a", "b", "c", "c"]
    assert [len(router.consider(a_result(route=route))) for route in routes] == [1, 1, 0, 0]
    clock.now += 59
    assert not router.consider(a_result(route="d"))
    clock.now += 1
    assert router.consider(a_result(route="c"))[0].suppressed == 2
    assert router.consider(a_result(route="a"))[0].suppressed == 0
    assert not router.consider(a_result(route="b"))


def test_a_cap_of_none_sends_none() -> None:
    """Zero alerts a minute is a way to switch them off."""
    assert not AlertRouter([], per_minute=0).consider(a_result())


def test_routes_without_end_do_not_fill_the_memory() -> None:
    """A route that holds an id must not grow the table for ever."""
    router = AlertRouter([], per_minute=1)
    for n in range(3000):
        router.consider(a_result(route=f"answer-{n}"))
    assert len(router._recent) <= 1024


@pytest.mark.parametrize(
    ("capture_content", "trace", "environ"),
    [
        (False, {}, {}),
        (True, {"capture_content": False}, {}),
        (True, {}, {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "NO_CONTENT"}),
    ],
)
def test_hidden_content_stays_hidden(
    capture_content: bool, trace: dict[str, Any], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An alert still says where and how bad, without a word of the conversation."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    (alert,) = AlertRouter([], capture_content=capture_content).consider(a_result(**trace))
    assert alert.risk == 0.93
    assert not [text for text in SECRET_TEXTS if text in str(to_dict(alert))]


def test_hidden_documents_take_the_quotes_out_of_an_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer's own claims stay, the passages' words do not."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS", "true")
    (alert,) = AlertRouter([]).consider(a_result())
    assert [claim.claim.text for claim in alert.claims] == ["It is made of cheese.", "Nobody has seen its far side."]
    assert not [claim for claim in alert.claims if claim.quotes or claim.explanation]
