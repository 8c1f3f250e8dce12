"""The message on a phone at three in the morning: what has to be known first, the rest further down."""

from __future__ import annotations

import dataclasses
import json

from rag_otel.alert import Alert, AlertExample
from rag_otel.alerts.channels.alertmanager import annotations_of
from rag_otel.alerts.channels.pagerduty import event
from rag_otel.alerts.channels.slack import payload
from rag_otel.alerts.messages.next_steps import AlertLinks
from rag_otel.alerts.messages.rendering import compose_message, plain_text
from tests.alerts.alert_builders import a_statistical_alert

LINKS = AlertLinks(chart="https://grafana/d/rag?service={service}&from={from}", runbook="https://docs/runbook.md")
PHONE_LINES, PHONE_COLUMNS = 24, 90


def a_night() -> Alert:
    """A drop with five bad answers."""
    alert = a_statistical_alert()
    examples = tuple(
        AlertExample(
            metric="faithfulness",
            question=f"Question {n}?",
            response="It is so.",
            score=n / 10,
            risk=0.9,
            link=f"http://phoenix/redirects/traces/{n}",
        )
        for n in range(5)
    )
    details: dict[str, str | float] = {
        "before": 0.91,
        "estimate": 0.78,
        "interval": "0.74 to 0.81",
        "bad_answers": "9 of the last 31 answers unfaithful, before 2 of 100",
        "evidence": 1.2,
        "baseline": 0.9,
    }
    return LINKS.on(dataclasses.replace(alert, examples=examples, details=details))


def head() -> list[str]:
    """What stands above the details."""
    return plain_text(compose_message(a_night())).split("--- Details")[0].strip().split("\n")


def test_the_head_says_everything_that_is_needed_first_and_fits_a_screen() -> None:
    lines = head()
    assert len(lines) <= PHONE_LINES
    text = "\n".join(lines)
    for part in (
        "faithfulness of observatory fell from 0.91 to 0.78",
        "Where: observatory",
        "Since: 2023-11-14 22:13 UTC (for 2 h 30 min)",
        "How bad: faithfulness 0.91 -> 0.78 (0.74 to 0.81); 9 of the last 31 answers unfaithful, before 2 of 100",
        "1. faithfulness 0.00, hallucination risk 0.90: Question 0?",
        "3. faithfulness 0.20",
        "Trace: http://phoenix/projects/1",
        "Chart: https://grafana/d/rag?service=observatory&from=1699996400000",
        "Runbook: https://docs/runbook.md#drift_score",
        "Next: ",
    ):
        assert part in text, text
    assert "4. faithfulness" not in text
    assert "evidence" not in text


def test_every_channel_puts_the_head_first_and_the_rest_where_it_is_folded() -> None:
    alert = a_night()
    slack = payload(alert)
    shown, folded = json.dumps(slack["blocks"]), json.dumps(slack["attachments"])
    assert "How bad" in shown
    assert "runbook.md#drift_score|Runbook" in shown
    assert "baseline" not in shown
    assert "baseline" in folded
    assert "evidence" not in shown + folded
    pager = json.loads(event(alert, "key"))
    details = pager["payload"]["custom_details"]
    assert list(details)[:3] == ["where", "since", "how bad"]
    assert [link["text"] for link in pager["links"]] == ["Trace", "Chart", "Runbook"]
    assert details["details"]["baseline"] == "0.9"
    assert "evidence" not in details["details"]
    notes = annotations_of(alert, compose_message(alert))
    assert notes["runbook_url"] == "https://docs/runbook.md#drift_score"
    assert "baseline" not in notes["description"]
    assert "baseline" in notes["details"]


def test_every_alert_of_ours_has_a_next_step_and_a_section_of_the_runbook() -> None:
    from pathlib import Path

    from rag_otel.alerts.messages.next_steps import NEXT_STEPS

    sections = {
        line[4:].strip() for line in Path("docs/runbook.md").read_text().splitlines() if line.startswith("### ")
    }
    assert set(NEXT_STEPS) <= sections


def test_without_an_address_of_the_runbook_the_message_says_what_to_do_itself() -> None:
    """A path of our repository is no help at night."""
    text = plain_text(compose_message(dataclasses.replace(a_night(), runbook=None)))
    assert "docs/runbook.md" not in text
    assert "undo the one that fits" in text
    assert "rag-otel drift --state FOLDER --relearn" in text


def test_the_title_is_a_whole_sentence() -> None:
    """What a pager shows is not cut before it says how many answers are bad; where a channel cuts, it repeats it."""
    said = (
        "The hallucination risk rose from .06 to .31 on 23 November at 13:17 UTC, when model=llama-2-7b-chat came in; "
        "about 1 in 2 answers is now unfaithful, before 1 in 19"
    )
    alert = dataclasses.replace(a_night(), headline=said, service="observatory-in-production")
    assert compose_message(alert).title.endswith(said)
    assert json.loads(event(alert, "key"))["payload"]["summary"].endswith(said)
    assert said in json.dumps(payload(alert)["blocks"][1])
