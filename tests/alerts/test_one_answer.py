"""The alert on one answer: it pages where such alerts are right often enough, else the day's worst are one message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_otel.alert import Alert, AlertAudience, AlertSeverity, AlertState
from rag_otel.alerts.digest import ANSWERS_TO_REVIEW
from rag_otel.alerts.messages.rendering import compose_message, plain_text
from rag_otel.alerts.precision import BAD, GOOD, MEASURED, AnswerPrecision
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.settings import resolve
from rag_otel.settings.groups import AlertSettings
from rag_otel.setup.delivering import compose_delivery
from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.http_receiver import Receiver, http_receiver
from tests.alerts.test_inbox import HOUR_S, Scene
from tests.support.results import a_result, an_evaluation

PATIENCE_S = 20.0


def a_scene(**options: Any) -> Scene:
    fields: dict[str, Any] = {
        "precision": AnswerPrecision(),
        "digest_s": 10.0,
        "resolve_after_s": 900.0,
        "cooldown_s": 0.0,
    }
    return Scene(**fields | options)


def reviews(scene: Scene) -> list[Alert]:
    return [alert for alert in scene.told if alert.name == ANSWERS_TO_REVIEW]


def test_a_suspicion_that_is_seldom_right_becomes_one_message_a_day() -> None:
    """Of twelve answers the five worst are shown; the first of a quiet day is told at once."""
    scene = a_scene()
    scene.answer()
    scene.passes(60)
    (first,) = reviews(scene)
    assert first.headline == "1 answer worth a look today"
    for n in range(12):
        scene.answer(an_evaluation(risk=0.5 + n / 100), route=f"route-{n}")
        scene.passes(HOUR_S)
    assert len(reviews(scene)) == 1
    scene.passes(24 * HOUR_S)
    _, second = reviews(scene)
    assert second.headline == "12 answers worth a look today, the 5 worst"
    assert [example.risk for example in second.examples] == [pytest.approx(0.61 - n / 100) for n in range(5)]
    assert second.audience is AlertAudience.READERS
    text = plain_text(compose_message(second))
    assert "How often right: 24% of such alerts" in text
    assert "5. faithfulness 0.33" in text
    scene.passes(72 * HOUR_S)
    assert len(reviews(scene)) == 2
    assert {alert.audience for alert in scene.told if alert.name != ANSWERS_TO_REVIEW} == {AlertAudience.RECORDS}


def test_what_is_right_often_enough_pages() -> None:
    """Where the settings say that half of such alerts are right, or where a rule says that it is critical."""
    for stated, audience in ((0.5, AlertAudience.EVERYONE), (0.49, AlertAudience.RECORDS)):
        alert, *_ = a_scene(precision=AnswerPrecision(stated=stated), digest_s=0).answer()
        assert alert.audience is audience
        assert f"{stated:.0%} of such alerts" in alert.trust
    (critical,) = a_scene(rules=("risk>0.9 critical",), digest_s=0).answer()
    assert (critical.audience, critical.severity) == (AlertAudience.EVERYONE, AlertSeverity.CRITICAL)


def test_a_judge_that_nobody_measured_does_not_page() -> None:
    """And the message says so."""
    scene = a_scene(digest_s=0)
    (alert,) = (each for each in scene.answer(an_evaluation(judge="openai/gpt-4o")) if each.name != ANSWERS_TO_REVIEW)
    assert alert.audience is AlertAudience.RECORDS
    assert "not known for this judge" in alert.trust


def test_a_right_judge_tells_every_unfaithful_answer_at_once() -> None:
    """One that gives labels and no risk."""
    scene = a_scene(precision=AnswerPrecision(stated=0.9), digest_s=0, cooldown_s=0)
    told = [scene.answer(an_evaluation(judge="openai/gpt-4o", risk=None)) for _ in range(5)]
    assert [[each.audience for each in alerts] for alerts in told] == [[AlertAudience.EVERYONE]] * 5


def test_who_is_paged_hears_of_the_end() -> None:
    """The log knew the problem first, then one of its answers was critical: its incident is closed, and only once."""
    scene = a_scene(rules=("unfaithful", "risk>0.97 critical"), cooldown_s=300.0)
    for route in ("a", "b"):
        scene.answer(route=route)
    scene.passes(60)
    scene.answer(an_evaluation(risk=0.99), route="a")
    scene.passes(400)
    scene.answer(route="a")
    scene.passes(2 * HOUR_S)
    heard = [each for each in scene.told if each.audience is AlertAudience.EVERYONE]
    assert [each.state for each in heard] == [AlertState.FIRING, AlertState.RESOLVED]
    assert {each.fingerprint for each in heard} == {"observatory/faithfulness/a"}


def test_the_shipped_counts_are_those_of_this_version_of_the_judge() -> None:
    """Each answer of examples/data by coefficients that did not see its question, as the benchmark counts them."""
    data = Path(__file__).parents[2] / "examples" / "data"
    folds = OutOfFold.load(data / "out_of_fold.json")
    risks: list[tuple[float, bool]] = []
    for line in (data / "ragtruth_qa_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        judged = Faithfulness(judge=folds.judge_for(row["source_id"])).evaluate_sync(
            question=row["question"], chunks=row["contexts"], response=row["response"]
        )
        if judged.claims:
            risks.append((judged.risk or 0.0, bool(row["label"])))
    bad, good = ([risk for risk, is_bad in risks if is_bad is wanted] for wanted in (True, False))
    assert (len(bad), len(good)) == (BAD, GOOD)
    assert {at: (sum(risk >= at for risk in bad), sum(risk >= at for risk in good)) for at in MEASURED} == MEASURED


@contextmanager
def delivery_to(receiver: Receiver, told: list[Alert], **settings: Any) -> Iterator[Dispatcher]:
    made = compose_delivery(
        resolve(
            {
                "alerts": AlertSettings(on_alert=told.append),
                "alert_webhook_url": f"{receiver.url}/hook",
                "alert_slack_url": f"{receiver.url}/slack",
                "alert_pagerduty_key": "k" * 32,
                "alert_pagerduty_url": f"{receiver.url}/pagerduty",
                "alert_alertmanager_urls": (f"{receiver.url}/alertmanager",),
                **settings,
            },
            {},
        ).settings,
    )
    yield made
    made.shutdown(PATIENCE_S)


def test_readers_get_the_message_of_the_day_pagers_nothing_and_records_each_answer() -> None:
    """Through the real channels, as the default settings have it."""
    told: list[Alert] = []
    with http_receiver() as receiver, delivery_to(receiver, told) as delivery:
        for route in ("a", "b", "c"):
            delivery.submit(a_result(route=route))
        assert delivery.flush(PATIENCE_S)
        got = sorted(request.path for request in receiver.requests)
        bodies = {request.path: json.loads(request.body) for request in receiver.requests}
    assert got == ["/hook", "/slack"]
    assert bodies["/hook"]["name"] == ANSWERS_TO_REVIEW
    assert bodies["/hook"]["headline"] == "3 answers worth a look today, all of them below"
    assert [(alert.name, alert.count) for alert in told] == [("unfaithful_answer", 3)]


def test_with_a_right_judge_every_channel_is_told_of_an_answer() -> None:
    told: list[Alert] = []
    with http_receiver() as receiver, delivery_to(receiver, told, alert_precision=1.0) as delivery:
        delivery.submit(a_result())
        assert delivery.flush(PATIENCE_S)
        got = {request.path.split("/")[1] for request in receiver.requests}
    assert got == {"hook", "slack", "pagerduty", "alertmanager"}
    assert [alert.name for alert in told] == ["unfaithful_answer"]
