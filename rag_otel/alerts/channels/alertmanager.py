"""Alerts to Prometheus' Alertmanager, by its API `POST /api/v2/alerts`, which groups, silences and routes them.

Alertmanager expects a firing alert to be sent again and again, and ends it when that stops: each message holds the
time of its expiry (`endsAt`), it is renewed in time, and a resolve message ends it at once. When
the process dies, its alerts expire. Alertmanager identifies an alert by its labels, so they do not change while it
fires.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection
from typing import Any, Final

from rag_otel.alert import Alert, AlertAudience, AlertState
from rag_otel.alerts.messages.rendering import AlertMessage, Sizes, compose_message, details, head, timestamp
from rag_otel.alerts.messages.wording import alert_id
from rag_otel.delivery.http import post, to_json
from rag_otel.durable.named_states import NamedState
from rag_otel.durable.state_folder import StateFolder
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.rendering.text_cutting import one_line
from rag_otel.safety.guard import counters, guarded
from rag_otel.safety.redaction import redacted
from rag_otel.safety.scheduler import scheduler

RENEW_S: Final = 60.0
RENEWALS_MISSED: Final = 4
"""An alert expires when this many renewals in a row did not arrive, as with Prometheus itself."""
RENEWALS_MISSED_IN_A_RESTART: Final = 15
"""The same with a state folder, from which the next process goes on: longer than a deployment takes."""
MAX_FIRING: Final = 256
"""The most alerts that are renewed; of more, the oldest expire."""
VERSION: Final = 3
"""Of the state."""
_PATH: Final = "/api/v2/alerts"
_SIZES: Final = Sizes(question=500, response=1500, claim=300, quote=300)


class AlertmanagerChannel:
    """Sends alerts, renews them while they fire, and ends them. Retried as `http.post` says.

    Safe to repeat: the same labels are the same alert. A forked child does not renew its parent's alerts.
    """

    hears = frozenset({AlertAudience.EVERYONE})

    def __init__(
        self,
        url: str,
        *,
        name: str = "alertmanager",
        authorization: str | None = None,
        renew_s: float = RENEW_S,
        timeout_s: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`url` is Alertmanager's address, with its path prefix where it has one; `authorization` is the value of the
        header: `Bearer ...` or `Basic ...`. `clock` gives seconds since the epoch."""
        self.name = name
        self._url = url.rstrip("/").removesuffix(_PATH) + _PATH
        self._authorization = authorization
        self._renew_s = renew_s
        self._timeout_s = timeout_s
        self._clock = clock
        self._saved: NamedState | None = None
        self._start_empty()

    def _start_empty(self) -> None:
        self._process = os.getpid()
        self._order = threading.RLock()
        """Held while something is posted: a renewal that overtakes the end of an alert would raise it again."""
        self._renew_at: float | None = None
        """Seconds since the epoch; None: nothing fires."""
        self._firing: dict[str, dict[str, Any]] = {}
        """What is renewed, by fingerprint, the oldest first."""

    def send(self, alert: Alert) -> None:
        """Raises RetryableError or PermanentError."""
        self._forked()
        payload = _payload(alert, self._clock())
        over = alert.state is AlertState.RESOLVED
        with self._order:
            earlier = self._firing.pop(alert.fingerprint, None)
            batch = []
            if earlier is not None and earlier["labels"] != payload["labels"]:  # for Alertmanager another alert
                batch.append({**earlier, "endsAt": self._time()})
            batch.append({**payload, "endsAt": self._time(0.0 if over else self._holds_s)})
            self._post(batch)
            if not over:
                self._firing[alert.fingerprint] = payload
                if len(self._firing) > MAX_FIRING:
                    del self._firing[next(iter(self._firing))]
                    counters.add("alerts.alertmanager.not_renewed")
                self._renew_in(self._renew_s)
            if self._saved is not None:
                with guarded("alertmanager.save"):
                    self._saved.save(self._firing)

    def go_on(self, folder: StateFolder, open_alerts: Collection[str]) -> None:
        """Renew what the last process told and what is not over yet, at once and from then on."""
        self._saved = NamedState(folder, self.name, VERSION)
        found = self._saved.load(lambda stored: {name: {**payload} for name, payload in stored.items()})
        with self._order:
            self._firing.update({name: each for name, each in (found or {}).items() if name in open_alerts})
            if self._firing:
                self._renew_in(0.0)

    def stop_renewing(self) -> None:
        """Stop renewing: firing alerts expire after a while, unless another process sends them."""
        self._forked()
        self._firing, self._renew_at = {}, None
        scheduler.remove(self)

    def due(self) -> float | None:
        """When firing alerts are sent again, seconds since the epoch."""
        return self._renew_at

    def tick(self) -> None:
        """Send all firing alerts again."""
        with self._order:
            if not self._firing:
                self._renew_at = None
                scheduler.remove(self)
                return
            self._renew_at = time.time() + self._renew_s
            ends_at = self._time(self._holds_s)
            try:
                self._post([{**payload, "endsAt": ends_at} for payload in self._firing.values()])
            except (RetryableError, PermanentError):
                counters.add("alerts.alertmanager.renewals_failed")

    def _renew_in(self, seconds: float) -> None:
        if self._renew_at is None:
            self._renew_at = time.time() + seconds
            scheduler.add(self)

    def _forked(self) -> None:
        if os.getpid() != self._process:
            self._start_empty()

    @property
    def _holds_s(self) -> float:
        return self._renew_s * (RENEWALS_MISSED if self._saved is None else RENEWALS_MISSED_IN_A_RESTART)

    def _time(self, ahead_s: float = 0.0) -> str:
        return timestamp(int((self._clock() + ahead_s) * 1e9), timespec="milliseconds")

    def _post(self, batch: list[dict[str, Any]]) -> None:
        headers = {"Authorization": self._authorization} if self._authorization else {}
        with redacted(self._authorization):
            post(self._url, to_json(batch), headers=headers, timeout_s=self._timeout_s)


def labels_of(alert: Alert) -> dict[str, str]:
    """The labels that identify the alert and that Alertmanager's routes match; they hold no text of any answer."""
    labels = {
        "alertname": alert.name,
        "severity": str(alert.severity),
        "metric": alert.metric,
        "service": alert.service or "",
        "route": alert.route or "",
        "fingerprint": alert.fingerprint,
    }
    return {name: one_line(value, 200) for name, value in labels.items() if value}


def annotations_of(alert: Alert, message: AlertMessage) -> dict[str, str]:
    """The texts: one line, what has to be known at once, the evidence; links and numbers for templates."""
    annotations = {
        "summary": message.title,
        "description": "\n".join([message.title, *head(message)]),
        "details": "\n".join(details(message, _SIZES)),
        "next_step": message.next_step,
        "runbook_url": alert.runbook or "",
        "chart": alert.chart or "",
        "score": "" if alert.score is None else f"{alert.score:.4g}",
        "risk": "" if alert.risk is None else f"{alert.risk:.4g}",
        "trace": alert.link or "",
        "trace_id": alert.target.trace_id if alert.target else "",
        "id": alert_id(alert),
    }
    return {name: value for name, value in annotations.items() if value}


def _payload(alert: Alert, now: float) -> dict[str, Any]:
    """The alert without its end, which every renewal sets anew."""
    payload: dict[str, Any] = {
        "labels": labels_of(alert),
        "annotations": annotations_of(alert, compose_message(alert)),
        # Alertmanager rejects an alert that ends before it starts: a span's clock may be ahead of ours.
        "startsAt": timestamp(min(alert.since_ns or alert.time_ns or int(now * 1e9), int(now * 1e9))),
    }
    if alert.link:
        payload["generatorURL"] = alert.link
    return payload
