"""An alert, and its end, name the same service, metric and problem."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.channels.alertmanager import labels_of
from rag_otel.alerts.channels.pagerduty import dedup_key
from rag_otel.alerts.messages.rendering import compose_message, plain_text
from tests.alerts.alert_builders import an_alert
from tests.alerts.test_inbox import Scene
from tests.support.results import an_evaluation


def a_drift(**changes: Any) -> Alert:
    """As the drift monitor raises it for all traffic: it knows no service."""
    fields: dict[str, Any] = {
        "name": "drift_risk",
        "fingerprint": "drift/faithfulness.risk/all",
        "metric": "faithfulness.risk",
        "headline": "faithfulness risk of all traffic rose",
    }
    return Alert(**fields | changes)


def told_by(service: str) -> tuple[Alert, Alert]:
    """Alarm and end in an application of this name that has answered once."""
    scene = Scene()
    scene.answer(an_evaluation(label="faithful"), service=service)
    scene.inbox.raise_alert(a_drift())
    scene.inbox.raise_alert(a_drift(state=AlertState.RESOLVED, headline="unjudged share of model=b is back"))
    firing, resolved = scene.told
    return firing, resolved


def test_a_statistic_names_the_service_whose_answers_it_saw() -> None:
    firing, resolved = told_by("observatory")
    assert firing.service == resolved.service == "observatory"
    assert compose_message(firing).title.count("None") == 0


def test_two_applications_do_not_share_an_incident() -> None:
    """One would resolve what is still wrong in the other."""
    (ours, ours_over), (theirs, _) = told_by("observatory"), told_by("library")
    assert dedup_key(ours) == dedup_key(ours_over) != dedup_key(theirs)
    assert labels_of(ours) == labels_of(ours_over) != labels_of(theirs)


def test_an_incident_keeps_its_name_when_another_service_appears() -> None:
    """A collector hears of a second service between the alarm and its end."""
    scene = Scene()
    scene.answer(an_evaluation(label="faithful"), service="observatory")
    scene.inbox.raise_alert(a_drift())
    scene.answer(an_evaluation(label="faithful"), service="library")
    scene.inbox.raise_alert(a_drift(state=AlertState.RESOLVED))
    scene.inbox.raise_alert(a_drift())
    firing, resolved, again = scene.told
    assert resolved.fingerprint == firing.fingerprint
    assert (again.service, again.fingerprint) == (
        "library, observatory",
        "library+observatory/drift/faithfulness.risk/all",
    )


def test_the_end_speaks_of_what_the_alarm_spoke_of() -> None:
    """Same name, metric and severity, and the sentence of the alarm."""
    scene = Scene()
    scene.raises(name="drift_risk", metric="faithfulness.risk", fingerprint="drift/x", headline="risk rose to .5")
    (over,) = scene.raises(
        name="drift_unjudged", metric="faithfulness.unscored", fingerprint="drift/x", state=AlertState.RESOLVED
    )
    assert (over.name, over.metric) == ("drift_risk", "faithfulness.risk")
    assert "risk rose to .5" in plain_text(compose_message(over))


def test_a_digest_resolves_as_a_digest() -> None:
    """Not as the last of its problems: the title that was told is the title that is over."""
    scene = Scene(digest_s=10, resolve_after_s=900)
    scene.answer(route="a")
    scene.answer(route="b")
    (digest,) = scene.passes(10)
    (over,) = scene.passes(3600)
    assert (over.name, over.service, over.route) == (digest.name, digest.service, digest.route)
    assert digest.headline in over.headline
    assert labels_of(over) == labels_of(digest)


@pytest.mark.parametrize("name", ["drift_risk", "drift_score"])
def test_a_score_never_stands_under_the_name_of_a_risk(name: str) -> None:
    """The example of a risk's alarm showed the score as `faithfulness.risk 0.00`."""
    scene = Scene()
    example = scene.answer(an_evaluation(score=0.0, risk=0.81))[0]
    series = f"faithfulness.{name.partition('_')[2]}"
    shown = Scene().inbox._rules._examples.of  # the example as monitors make it
    from tests.support.results import a_result

    evaluation = an_evaluation(score=0.0, risk=0.81)
    alert = a_drift(name=name, metric=series, examples=(shown(a_result(evaluation), evaluation),))
    text = plain_text(compose_message(alert))
    assert "faithfulness 0.00" in text
    assert "hallucination risk 0.81" in text
    assert "faithfulness.risk" not in text.replace("details", "").split("Details")[0]
    assert example.score == 0.0


def test_an_example_of_another_metric_says_so() -> None:
    """Each number under the name of its own metric."""
    from rag_otel.alert import AlertExample

    alert = an_alert(metric="faithfulness.score", examples=(AlertExample(metric="context_recall", score=0.2),))
    text = plain_text(compose_message(alert))
    assert "context_recall 0.20" in text
