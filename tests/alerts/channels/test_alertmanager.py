"""Alerts pushed to Alertmanager: a real one, and a server that records what it would have been sent."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from rag_otel.alert import AlertSeverity
from rag_otel.alerts.channels.alertmanager import RENEWALS_MISSED, AlertmanagerChannel
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.safety.scheduler import scheduler
from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually
from testkit.programs import program
from tests.alerts.alert_builders import LINK, MARKED, a_hidden_alert, a_statistical_alert, an_alert, resolved
from tests.alerts.alertmanager_server import Alertmanager, alertmanager
from tests.support.results import QUESTION, SECRET_TEXTS

pytestmark = pytest.mark.server


NEVER_S = 3600.0


@pytest.fixture(scope="module")
def hook() -> Iterator[Receiver]:
    """Where Alertmanager tells of what it was told."""
    with http_receiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def server(hook: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    """The real one, started once; alerts of different fingerprints do not meet there."""
    with alertmanager(program("prometheus-alertmanager"), tmp_path_factory.mktemp("alertmanager"), hook.url) as running:
        yield running


def firing(server: Alertmanager, fingerprint: str) -> list[dict[str, Any]]:
    """What Alertmanager holds of one problem."""
    return [each for each in server.firing() if each["labels"]["fingerprint"] == fingerprint]


def notified(hook: Receiver, status: str, fingerprint: str) -> list[dict[str, Any]]:
    """What the receiver behind Alertmanager was told of one problem."""
    told = [alert for request in list(hook.requests) for alert in json.loads(request.body)["alerts"]]
    return [each for each in told if each["status"] == status and each["labels"]["fingerprint"] == fingerprint]


def posted(receiver: Receiver) -> list[list[dict[str, Any]]]:
    """The batches that were pushed, in order."""
    return [json.loads(request.body) for request in list(receiver.requests)]


def scheduled() -> set[object]:
    """What the scheduler is to do from now on."""
    return set(scheduler.parts)


def test_alertmanager_hears_of_the_problem_and_of_its_end(server: Alertmanager, hook: Receiver) -> None:
    """Labels to route by, the evidence to read, the link to the trace; resolved at once, not after a timeout."""
    channel = AlertmanagerChannel(server.url, renew_s=NEVER_S)
    alert = an_alert(fingerprint="fires and resolves")
    channel.send(alert)
    (found,) = eventually(lambda: firing(server, alert.fingerprint))
    assert found["labels"] == {
        "alertname": "unfaithful_answer",
        "severity": "warning",
        "metric": "faithfulness",
        "service": "observatory",
        "route": "answer",
        "fingerprint": alert.fingerprint,
    }
    assert found["generatorURL"] == LINK
    assert found["startsAt"] == "2023-11-14T22:13:20.000Z"
    annotations = found["annotations"]
    assert (annotations["score"], annotations["risk"], annotations["trace"]) == ("0.3333", "0.93", LINK)
    assert annotations["description"].startswith("Unfaithful answer in observatory answer")
    for part in (QUESTION, MARKED, "It is made of cheese."):
        assert part in annotations["details"]
    eventually(lambda: notified(hook, "firing", alert.fingerprint))
    channel.send(resolved(alert))
    eventually(lambda: not firing(server, alert.fingerprint))
    eventually(lambda: notified(hook, "resolved", alert.fingerprint))


def test_an_alert_ends_by_itself_when_its_process_is_gone(server: Alertmanager) -> None:
    """Nobody renews it any more, so it holds no longer than a few renewals."""
    channel = AlertmanagerChannel(server.url, renew_s=0.5)
    channel.send(a_statistical_alert(fingerprint="left alone"))
    eventually(lambda: firing(server, "left alone"))
    channel.stop_renewing()
    eventually(lambda: not firing(server, "left alone"))


def test_an_alert_is_renewed_while_it_fires_and_no_longer() -> None:
    """Every renewal moves its end; after the resolve message nothing follows, and nothing is left to do."""
    before = scheduled()
    with http_receiver() as receiver:
        ticks = itertools.count(1_700_000_000, 0.001)
        channel = AlertmanagerChannel(receiver.url, name="renewing", renew_s=0.02, clock=lambda: next(ticks))
        alert = an_alert()
        channel.send(alert)
        eventually(lambda: len(receiver.requests) >= 5)
        channel.send(resolved(alert))
        eventually(lambda: scheduled() <= before)
        *renewals, last = posted(receiver)
    ends = [batch[0]["endsAt"] for batch in renewals]
    assert ends == sorted(set(ends))
    assert {json.dumps(batch[0]["labels"]) for batch in renewals} == {json.dumps(last[0]["labels"])}
    assert last[0]["endsAt"] < ends[-1]


def test_a_renewal_that_fails_is_made_good_by_the_next() -> None:
    """Alertmanager restarts; the alert is still there when it is back."""
    with http_receiver() as receiver:
        channel = AlertmanagerChannel(receiver.url, renew_s=0.02)
        channel.send(an_alert())
        receiver.answers += [(503, {}), (400, {})]
        eventually(lambda: len(receiver.requests) >= 5)
        channel.stop_renewing()


def test_a_message_says_until_when_it_holds() -> None:
    """A few renewals may be missed: by the clock of this machine, with a beginning that is never after now."""
    with http_receiver() as receiver:
        channel = AlertmanagerChannel(receiver.url, renew_s=60.0, clock=lambda: 1_700_000_000.0)
        channel.send(an_alert(time_ns=1_800_000_000 * 10**9))
        channel.stop_renewing()
        ((alert,),) = posted(receiver)
    assert (alert["startsAt"], alert["endsAt"]) == ("2023-11-14T22:13:20Z", "2023-11-14T22:17:20.000Z")
    assert RENEWALS_MISSED == 4


def test_a_problem_that_grows_ends_what_it_was_before() -> None:
    """Another severity makes other labels: to Alertmanager another alert."""
    with http_receiver() as receiver:
        channel = AlertmanagerChannel(receiver.url, renew_s=NEVER_S)
        channel.send(an_alert())
        channel.send(an_alert(severity=AlertSeverity.CRITICAL))
        channel.stop_renewing()
        _, (old, new) = posted(receiver)
    assert (old["labels"]["severity"], new["labels"]["severity"]) == ("warning", "critical")
    assert old["endsAt"] < new["endsAt"]


def test_a_forked_child_renews_nothing_of_its_parents() -> None:
    """The parent does; what the child raises is its own."""
    with http_receiver() as receiver:
        channel = AlertmanagerChannel(receiver.url, renew_s=NEVER_S)
        channel.send(an_alert(fingerprint="parent"))
        child = os.fork()
        if child == 0:
            channel.send(an_alert(fingerprint="parent", severity=AlertSeverity.CRITICAL))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        channel.stop_renewing()
        assert [len(batch) for batch in posted(receiver)] == [1, 1]


def test_the_address_may_be_written_in_any_usual_way() -> None:
    """With a slash, with a prefix, with the API's path; credentials go into the header and nowhere else."""
    with http_receiver() as receiver:
        for url in (receiver.url, f"{receiver.url}/am/", f"{receiver.url}/api/v2/alerts"):
            channel = AlertmanagerChannel(url, authorization="Bearer s3cret-token", renew_s=NEVER_S)
            channel.send(an_alert())
            channel.stop_renewing()
        receiver.answers += [(401, {}), (503, {"Retry-After": "3"})]
        for error in (PermanentError, RetryableError):
            with pytest.raises(error) as failed:
                channel.send(an_alert())
            assert "s3cret" not in str(failed.value)
        first, second, third, *_ = receiver.requests
    assert [each.path for each in (first, second, third)] == [
        "/api/v2/alerts",
        "/am/api/v2/alerts",
        "/api/v2/alerts",
    ]
    assert first.headers["authorization"] == "Bearer s3cret-token"


def test_what_is_hidden_is_not_told() -> None:
    """Neither in labels nor in annotations."""
    with http_receiver() as receiver:
        channel = AlertmanagerChannel(receiver.url, renew_s=NEVER_S)
        channel.send(a_hidden_alert())
        channel.stop_renewing()
        body = receiver.requests[0].body.decode()
    assert "0.93" in body
    assert not [secret for secret in SECRET_TEXTS if secret in body]
