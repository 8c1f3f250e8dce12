"""Which results are told, and when: cooldown, digests, quiet hours, the cap, and the end of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.alert import Alert, AlertAudience, AlertSeverity, AlertState
from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.messages.wording import alert_id, to_dict
from rag_otel.alerts.precision import AnswerPrecision
from rag_otel.alerts.problems import HELD, MAX_PROBLEMS
from rag_otel.alerts.rules import AlertRules, parse_rule
from rag_otel.alerts.schedule import Limits, parse_quiet_hours
from rag_otel.model import Evaluation, Verdict
from rag_otel.safety.guard import counters
from testkit.size import examples
from tests.support.results import QUESTION, SECRET_TEXTS, a_result, an_evaluation

NOON = 1_700_049_600.0
"""Wednesday, 15 November 2023, 12:00 UTC."""
HOUR_S = 3600.0
GOOD = an_evaluation(score=1.0, risk=0.02, label="faithful", claims=())


class Scene:
    """An inbox, a clock that moves when told to, and what was told."""

    def __init__(self, rules: Sequence[str] = ("unfaithful",), **options: Any) -> None:
        self.now = NOON
        self.told: list[Alert] = []
        limits = {"cooldown_s": 300.0, "resolve_after_s": 0.0}
        limits |= {field.name: options.pop(field.name) for field in fields(Limits) if field.name in options}
        given = {name: options.pop(name) for name in ("examples", "precision") if name in options}
        parsed = AlertRules([parse_rule(rule) for rule in rules], **given)
        self.inbox = Inbox(rules=parsed, limits=Limits(**limits), clock=lambda: self.now, **options)
        self.inbox.connect(self.told.append)

    def answer(self, *evaluations: Evaluation, **trace: Any) -> list[Alert]:
        """One result; what was told because of it."""
        before = len(self.told)
        self.inbox.consider(a_result(*evaluations, **trace))
        return self.told[before:]

    def raises(self, **changes: Any) -> list[Alert]:
        """One alert of a monitor; what was told because of it."""
        before = len(self.told)
        fields: dict[str, Any] = {"name": "slo_burn_rate", "fingerprint": "observatory/slo", "metric": "faithfulness"}
        self.inbox.raise_alert(Alert(**fields | changes))
        return self.told[before:]

    def passes(self, seconds: float) -> list[Alert]:
        """Time goes by as the ticker sees it: from one due moment to the next; what was told meanwhile."""
        before, end = len(self.told), self.now + seconds
        while (due := self.inbox.due()) is not None and due <= end:
            self.now = max(self.now, due)
            self.inbox.tick()
            assert (after := self.inbox.due()) is None or after > self.now, "due again at once: a busy loop"
        self.now = end
        return self.told[before:]


def test_an_unfaithful_answer_is_told_with_its_evidence() -> None:
    """Question, unsupported claims with their nearest quotes, score, risk, where it was and the link."""
    scene = Scene(examples=Examples(link=lambda result: f"http://phoenix/{result.trace.target.trace_id}"))
    result = a_result()
    scene.inbox.consider(result)
    (alert,) = scene.told
    assert alert.name == "unfaithful_answer"
    assert alert.question == QUESTION
    assert [claim.verdict for claim in alert.claims] == [Verdict.NOT_ENOUGH_INFO, Verdict.CONTRADICTED]
    assert alert.claims[1].quotes[0].chunk_id == "moon-1"
    assert alert.risk == 0.93
    assert alert.score == pytest.approx(1 / 3)
    assert (alert.service, alert.route, alert.target) == ("observatory", "answer", result.trace.target)
    assert alert.link == f"http://phoenix/{result.trace.target.trace_id}"
    assert alert.time_ns == result.trace.start_ns


def test_one_problem_is_told_once_a_cooldown_and_what_was_held_back_is_carried() -> None:
    """The next alert of the fingerprint says how many came in between."""
    scene = Scene()
    assert scene.answer()[0].suppressed == 0
    scene.passes(299)
    assert not scene.answer()
    assert not scene.answer()
    scene.passes(1)
    assert scene.answer()[0].suppressed == 2
    scene.passes(300)
    assert scene.answer()[0].suppressed == 0


@pytest.mark.parametrize("difference", [{"service": "library"}, {"route": "summarise"}])
def test_another_service_or_route_is_another_problem(difference: dict[str, Any]) -> None:
    """The cooldown of one does not silence the other."""
    scene = Scene()
    (first,), (second,) = scene.answer(), scene.answer(**difference)
    assert first.fingerprint != second.fingerprint


def test_what_becomes_critical_is_told_within_the_cooldown() -> None:
    """A warning a minute ago is no reason to keep a critical alert back; a second critical one cools down."""
    scene = Scene(rules=("risk>0.9", "risk>0.97 critical"))
    assert scene.answer()[0].severity is AlertSeverity.WARNING
    assert scene.answer(an_evaluation(risk=0.99))[0].severity is AlertSeverity.CRITICAL
    assert not scene.answer(an_evaluation(risk=0.99))


def test_all_fingerprints_together_stay_below_the_cap_and_the_rest_follows_in_one_message() -> None:
    """At most so many in any minute; what had to wait is told when there is room, with its count."""
    scene = Scene(cooldown_s=0, per_minute=2)
    assert [len(scene.answer(route=route)) for route in ("a", "b", "c", "c", "d")] == [1, 1, 0, 0, 0]
    assert not scene.passes(59)
    (digest,) = scene.passes(1)
    assert digest.count == 3
    assert digest.name == "unfaithful_answer"
    assert {example.question for example in digest.examples} == {QUESTION}
    assert "3 alerts held back: 3 unfaithful answer in c, d" in digest.headline
    assert digest.target is None
    assert not scene.passes(600)


def test_alerts_of_one_window_are_one_message() -> None:
    """Thirty routes that go bad at once wake somebody once, with the worst answers as examples."""
    scene = Scene(digest_s=10)
    for n in range(30):
        scene.answer(an_evaluation(risk=0.6 + n / 100), route=f"answer-{n}")
    assert not scene.told
    assert not scene.passes(9)
    (digest,) = scene.passes(1)
    assert digest.count == 30
    assert (digest.service, digest.route) == ("observatory", None)
    assert digest.risk == pytest.approx(0.89)
    assert [example.risk for example in digest.examples] == [pytest.approx(0.89 - n / 100) for n in range(10)]
    assert digest.fingerprint == "observatory/unfaithful_answer/*"


def test_answers_of_one_problem_within_a_window_are_all_in_its_message() -> None:
    """The cooldown begins when the problem is told: until then answers are examples, not suppressed."""
    scene = Scene(digest_s=10)
    for risk in (0.7, 0.9, 0.8):
        scene.answer(an_evaluation(risk=risk))
    (alert,) = scene.passes(10)
    assert (alert.count, alert.suppressed, alert.risk) == (3, 0, 0.9)
    assert [example.risk for example in alert.examples] == [0.8, 0.7]
    assert alert.fingerprint == "observatory/faithfulness/answer"
    scene.passes(295)
    scene.answer()
    assert not scene.passes(60)


def test_what_turns_critical_does_not_wait_with_the_others() -> None:
    """A warning of the problem is held until seven; the critical answer is told at once."""
    rules = ("risk>0.9", "risk>0.97 critical")
    scene = Scene(rules=rules, quiet=parse_quiet_hours(["00:00-24:00"]))
    assert not scene.answer()
    assert scene.answer(an_evaluation(risk=0.99))[0].severity is AlertSeverity.CRITICAL


def test_a_window_with_one_alert_sends_that_alert() -> None:
    """A digest of one would only hide the answer's own fields."""
    scene = Scene(digest_s=10)
    scene.answer()
    (alert,) = scene.passes(10)
    assert (alert.count, alert.question) == (1, QUESTION)


def test_a_flush_closes_the_windows() -> None:
    """A script that ends does not take its alerts with it."""
    scene = Scene(digest_s=10)
    scene.answer()
    scene.inbox.tick(close_windows=True)
    assert len(scene.told) == 1
    assert not scene.passes(60)


def test_quiet_hours_hold_back_what_can_wait_and_tell_it_at_their_end() -> None:
    """One digest at seven, local time, with every count; what is critical passes at once."""
    scene = Scene(quiet=parse_quiet_hours(["22:00-07:00 Europe/Berlin"]), cooldown_s=600)
    scene.passes(10 * HOUR_S)  # 22:00 UTC is 23:00 in Berlin
    for _ in range(12):
        assert not scene.answer()
        assert not scene.answer(route="summarise")
        scene.passes(600)
    (critical,) = scene.raises(severity=AlertSeverity.CRITICAL)
    assert critical.name == "slo_burn_rate"
    assert not scene.passes(6 * HOUR_S - 1)
    (digest,) = scene.passes(1)
    assert digest.count == 24
    assert "held back" in digest.headline
    assert not scene.passes(12 * HOUR_S)


def test_a_problem_is_over_after_a_time_without_bad_answers() -> None:
    """Told once, with how long it lasted and how many were bad; good answers alone do not end it at once."""
    scene = Scene(resolve_after_s=900)
    scene.answer()
    scene.passes(600)
    scene.answer()
    scene.answer(GOOD)
    assert not scene.passes(899)
    (resolved,) = scene.passes(1)
    assert resolved.state is AlertState.RESOLVED
    assert resolved.fingerprint == scene.told[0].fingerprint
    assert resolved.details == {"bad_answers": 2.0, "good_answers_since": 1.0}
    assert (resolved.question, resolved.response, resolved.claims) == (None, None, ())
    assert not scene.passes(HOUR_S)
    assert scene.answer()[0].state is AlertState.FIRING


def test_answers_between_the_two_thresholds_neither_begin_nor_end_a_problem() -> None:
    """Hysteresis: it fires below .5 and is over once nothing was below .7 for a while."""
    scene = Scene(rules=("score<0.5 until 0.7",), resolve_after_s=900)
    assert not scene.answer(an_evaluation(score=0.6))
    assert scene.answer(an_evaluation(score=0.4))
    for _ in range(5):
        scene.passes(600)
        scene.answer(an_evaluation(score=0.6))
    assert len(scene.told) == 1
    scene.answer(an_evaluation(score=0.7))
    (resolved,) = scene.passes(900)
    assert resolved.state is AlertState.RESOLVED


def test_a_digest_is_closed_when_all_that_it_told_of_is_over() -> None:
    """A pager knows it by the digest's fingerprint alone."""
    scene = Scene(digest_s=10, resolve_after_s=900)
    scene.answer(route="a")
    scene.answer(route="b")
    (digest,) = scene.passes(10)
    scene.passes(500)
    scene.answer(route="b")
    (again,) = scene.passes(500)
    assert (again.route, again.fingerprint) == ("b", digest.fingerprint)
    (resolved,) = scene.passes(HOUR_S)
    assert (resolved.fingerprint, resolved.state) == (digest.fingerprint, AlertState.RESOLVED)


def test_every_message_has_an_id_of_its_own() -> None:
    """Receivers drop what they have seen: a reminder, a second digest and two ends of one problem are all new."""
    scene = Scene(resolve_after_s=900, per_minute=1)
    reminder = {"since_ns": 1_700_000_000_000_000_000, "fingerprint": "observatory/slo"}
    for n in range(3):
        scene.raises(**reminder, time_ns=1_700_000_100_000_000_000 + n)
        for route in ("a", "b"):
            scene.answer(route=route, start_ns=round(scene.now * 1e9))
        scene.passes(400)
    scene.raises(state=AlertState.RESOLVED, time_ns=1_700_000_200_000_000_000)
    scene.passes(HOUR_S)
    ids = [alert_id(alert) for alert in scene.told]
    assert len(ids) == len(set(ids)) >= 8
    assert {alert.state for alert in scene.told} == {AlertState.FIRING, AlertState.RESOLVED}


def test_what_was_over_before_anybody_heard_of_it_is_not_told() -> None:
    """Counted, but nobody reads in the morning of what ended at night."""
    scene = Scene(quiet=parse_quiet_hours(["11:00-20:00"]))
    untold = counters.get("alerts.untold")
    assert not scene.raises()
    assert not scene.raises(state=AlertState.RESOLVED)
    assert not scene.passes(24 * HOUR_S)
    assert counters.get("alerts.untold") == untold + 1


def test_the_end_of_a_warning_does_not_wake_anybody_either() -> None:
    """Told before quiet hours, over within them: resolved at their end."""
    scene = Scene(quiet=parse_quiet_hours(["13:00-20:00"]))
    assert scene.raises()
    scene.passes(2 * HOUR_S)
    assert not scene.raises(state=AlertState.RESOLVED)
    (resolved,) = scene.passes(24 * HOUR_S)
    assert resolved.state is AlertState.RESOLVED


def test_the_end_of_what_was_critical_waits_for_room_alone() -> None:
    """Quiet hours hold back no good news about what woke somebody; the cap does, for a minute."""
    scene = Scene(quiet=parse_quiet_hours(["00:00-24:00"]), per_minute=1)
    assert scene.raises(severity=AlertSeverity.CRITICAL)
    assert not scene.raises(state=AlertState.RESOLVED)
    (resolved,) = scene.passes(61)
    assert resolved.state is AlertState.RESOLVED


def test_a_monitors_problem_ends_when_the_monitor_says_so() -> None:
    """Time alone does not: it lasts until it is resolved, and then it is, at once."""
    scene = Scene(resolve_after_s=900)
    (firing,) = scene.raises(details={"burn": 14.4}, severity=AlertSeverity.CRITICAL)
    assert not scene.passes(24 * HOUR_S)
    (resolved,) = scene.raises(state=AlertState.RESOLVED)
    assert (resolved.fingerprint, resolved.severity) == (firing.fingerprint, AlertSeverity.CRITICAL)


def test_a_clock_that_is_set_back_silences_nothing_for_long() -> None:
    """An hour back, as after a wrong time server: cooldown, cap and windows do not wait for the hour to pass again."""
    scene = Scene(per_minute=1, digest_s=10)
    scene.answer()
    scene.now -= HOUR_S
    scene.passes(10)
    scene.inbox.tick()
    assert len(scene.told) == 1
    scene.now -= HOUR_S
    scene.answer()
    assert len(scene.passes(10)) == 1


def test_routes_without_end_do_not_fill_the_memory() -> None:
    """A route that holds an id must not grow the tables for ever."""
    scene = Scene(per_minute=1, digest_s=10, quiet=parse_quiet_hours(["00:00-24:00"]))
    for n in range(2 * MAX_PROBLEMS):
        scene.answer(route=f"answer-{n}")
    scene.passes(60)
    held = scene.inbox.problems.state.waiting[HELD]
    assert len(scene.inbox.problems.state.open) == MAX_PROBLEMS
    assert (len(held.worst), len(held.counts)) == (10, 1024)


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
    """An alert, and a digest, still say where and how bad, without a word of the conversation."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    scene = Scene(examples=Examples(capture_content=capture_content), digest_s=10)
    scene.answer(**trace)
    scene.passes(10)
    scene.answer(**trace | {"route": "a"})
    scene.answer(**trace | {"route": "b"})
    scene.passes(10)
    alert, digest = scene.told
    assert alert.risk == digest.risk == 0.93
    assert digest.count == 2
    shown = str(to_dict(alert)) + str(to_dict(digest))
    assert not [text for text in SECRET_TEXTS if text in shown]


def test_hidden_documents_take_the_quotes_out_of_an_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer's own claims stay, the passages' words do not."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS", "true")
    (alert,) = Scene().answer()
    assert [claim.claim.text for claim in alert.claims] == ["It is made of cheese.", "Nobody has seen its far side."]
    assert not [claim for claim in alert.claims if claim.quotes or claim.explanation]


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("bad"), st.sampled_from(["a", "b", "c"])),
        st.tuples(st.just("wait"), st.sampled_from([1.0, 30.0, 61.0, 400.0, 5 * HOUR_S])),
    ),
    max_size=40,
)


@given(
    steps=_STEPS,
    digest_s=st.sampled_from([0.0, 10.0]),
    per_minute=st.integers(1, 3),
    cooldown_s=st.sampled_from([0.0, 300.0]),
    quiet=st.booleans(),
)
@settings(max_examples=examples(60), deadline=None)
def test_whatever_happens_nothing_is_lost_and_no_bound_is_broken(
    steps: list[tuple[str, Any]], digest_s: float, per_minute: int, cooldown_s: float, quiet: bool
) -> None:
    """Every bad answer is told, alone or counted, once; never in quiet hours, never beyond the cap."""
    hours = parse_quiet_hours(["14:00-20:00"] if quiet else [])
    scene = Scene(digest_s=digest_s, per_minute=per_minute, cooldown_s=cooldown_s, quiet=hours)
    told_at: list[float] = []

    def tell(alert: Alert) -> None:
        scene.told.append(alert)
        told_at.append(scene.now)

    scene.inbox.connect(tell)
    for step, value in [*steps, ("wait", 30 * HOUR_S)]:
        if step == "bad":
            scene.answer(route=value)
        else:
            scene.passes(value)
    bad = sum(step == "bad" for step, _ in steps)
    waiting = sum(problem.suppressed for problem in scene.inbox.problems.state.open.values())
    assert sum(alert.count + alert.suppressed for alert in scene.told) + waiting == bad
    assert not [at for at in told_at if hours.end_at(at) is not None]
    assert all(later - at >= 60 for at, later in zip(told_at, told_at[per_minute:], strict=False))


def test_an_open_problem_is_told_again_at_the_chosen_interval() -> None:
    """To every channel, with an id and a time of its own; never after its end, and never unless it is asked for."""
    assert not a_day_of_an_open_problem(0.0)
    first, second, *more = a_day_of_an_open_problem(4 * HOUR_S)
    assert len(more) == 3  # the problem is over before the sixth
    assert first.headline.startswith("Still open: ")
    assert (first.fingerprint, first.state) == ("observatory/slo", AlertState.FIRING)
    assert alert_id(first) != alert_id(second)
    assert second.time_ns - first.time_ns == 4 * HOUR_S * 1e9
    assert first.since_ns == second.since_ns


def a_day_of_an_open_problem(remind_s: float) -> list[Alert]:
    """What is told between the alert and its end, 23 hours later, and what in the day after."""
    scene = Scene(remind_s=remind_s)
    (alert,) = scene.raises(headline="burns", time_ns=round(NOON * 1e9))
    again = scene.passes(23 * HOUR_S)
    assert [each.state for each in scene.raises(state=AlertState.RESOLVED)] == [AlertState.RESOLVED]
    assert scene.passes(24 * HOUR_S) == []
    assert all(each.metric == alert.metric for each in again)
    return again


def test_reminders_that_are_due_together_are_one_message() -> None:
    """Of problems that one digest told, under its fingerprint; an answer's problem is reminded of without its id."""
    scene = Scene(remind_s=HOUR_S, digest_s=10.0)
    for route in ("a", "b", "c"):
        scene.answer(route=route)
    (digest,) = scene.passes(30)
    (again,) = scene.passes(HOUR_S)
    assert again.count == 3
    assert again.fingerprint == digest.fingerprint
    assert "still open" in again.headline.lower()
    alone = Scene(remind_s=HOUR_S)
    (answer,) = alone.answer()
    (reminder,) = alone.passes(HOUR_S)
    assert alert_id(reminder) != alert_id(answer)
    assert reminder.question is None


def test_a_problem_keeps_its_first_name_when_another_rule_finds_it() -> None:
    """A digest told of two routes; one of them turns critical within the next window: still the same incident."""
    scene = Scene(rules=("risk>0.9", "risk>0.97 critical"), cooldown_s=0.0, digest_s=10.0)
    for route in ("a", "b"):
        scene.answer(route=route)
    (digest,) = scene.passes(10)
    scene.answer(route="a")
    scene.answer(an_evaluation(risk=0.99), route="a")
    (again,) = scene.passes(10)
    assert (again.severity, again.fingerprint) == (AlertSeverity.CRITICAL, digest.fingerprint)


def test_what_nobody_was_told_of_is_not_told_again() -> None:
    """Quiet hours hold an answer back for longer than the interval of reminders: it is counted once."""
    scene = Scene(remind_s=HOUR_S, quiet=parse_quiet_hours(["11:00-20:00"]))
    assert not scene.answer()
    (told,) = scene.passes(8 * HOUR_S + 60)
    assert told.count == 1
    assert not told.headline.startswith("Still open")


def test_an_alarm_that_is_held_back_with_the_message_of_the_day_reaches_everybody() -> None:
    """And its incident ends, though the message of the day has no end."""
    scene = Scene(quiet=parse_quiet_hours(["11:00-20:00"]), precision=AnswerPrecision(), digest_s=10.0)
    scene.answer()
    scene.raises()
    (held,) = (alert for alert in scene.passes(9 * HOUR_S) if alert.audience is not AlertAudience.RECORDS)
    assert (held.fingerprint, held.count, held.audience) == (HELD, 2, AlertAudience.EVERYONE)
    (over,) = scene.raises(state=AlertState.RESOLVED)
    assert (over.fingerprint, over.state) == (HELD, AlertState.RESOLVED)
