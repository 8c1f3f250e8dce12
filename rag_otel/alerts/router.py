"""Which results somebody should hear of, and how often: one message a problem, not one an answer."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final

from rag_otel.alert import Alert
from rag_otel.guard import counters
from rag_otel.model import ClaimVerdict, EvaluatedTrace, Evaluation
from rag_otel.privacy import HiddenContent
from rag_otel.protocols import AlertChannel
from rag_otel.writers.attributes import hidden_content, unsupported

UNFAITHFUL: Final = "unfaithful"
UNFAITHFUL_ANSWER: Final = "unfaithful_answer"
_MINUTE_S: Final = 60.0
_MAX_FINGERPRINTS: Final = 1024


@dataclasses.dataclass(slots=True)
class _Recent:
    """What is known of one fingerprint."""

    sent_at: float | None = None
    suppressed: int = 0


class AlertRouter:
    """Raises an alert for every evaluation labelled `unfaithful`, within a cooldown and a cap.

    Alerts of one fingerprint (service, metric, route) are at least `cooldown_s` apart, and at most `per_minute` go out
    in any minute over all fingerprints. What is held back is counted and carried on the fingerprint's next alert.
    """

    def __init__(
        self,
        channels: Sequence[AlertChannel],
        *,
        cooldown_s: float = 300.0,
        per_minute: int = 10,
        capture_content: bool = True,
        link: Callable[[EvaluatedTrace], str | None] = lambda result: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`link` gives the address at which a human sees the trace."""
        self.channels: Sequence[AlertChannel] = tuple(channels)
        self._cooldown_s = cooldown_s
        self._capture_content = capture_content
        self._link = link
        self._clock = clock
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, _Recent] = OrderedDict()
        self._sent: deque[float] = deque(maxlen=max(per_minute, 0))
        """When the last `per_minute` alerts went out."""

    def consider(self, result: EvaluatedTrace) -> list[Alert]:
        """The alerts to send now for a result, one for each evaluation labelled `unfaithful`; mostly none."""
        alerts = []
        for evaluation in result.evaluations:
            if evaluation.label == UNFAITHFUL:
                name = fingerprint(result, evaluation)
                suppressed = self._admit(name)
                if suppressed is None:
                    counters.add("alerts.suppressed")
                else:
                    counters.add("alerts.raised")
                    alerts.append(self._alert(result, evaluation, name, suppressed))
        return alerts

    def after_fork(self) -> None:
        """A fresh lock for the forked child: the parent's may have been held by a thread that is gone."""
        self._lock = threading.Lock()

    def _admit(self, name: str) -> int | None:
        """How many were held back since the last one sent; None when this one is held back too."""
        with self._lock:
            now = self._clock()
            recent = self._recent.setdefault(name, _Recent())
            self._recent.move_to_end(name)
            if len(self._recent) > _MAX_FINGERPRINTS:
                self._recent.popitem(last=False)
            cooling = recent.sent_at is not None and now - recent.sent_at < self._cooldown_s
            if cooling or self._at_cap(now):
                recent.suppressed += 1
                return None
            self._sent.append(now)
            suppressed, recent.suppressed, recent.sent_at = recent.suppressed, 0, now
            return suppressed

    def _at_cap(self, now: float) -> bool:
        return len(self._sent) == self._sent.maxlen and (not self._sent or now - self._sent[0] < _MINUTE_S)

    def _alert(self, result: EvaluatedTrace, evaluation: Evaluation, name: str, suppressed: int) -> Alert:
        trace = result.trace
        hidden = hidden_content(result, capture_content=self._capture_content)
        return Alert(
            name=UNFAITHFUL_ANSWER,
            fingerprint=name,
            metric=evaluation.name,
            score=evaluation.score,
            risk=evaluation.risk,
            label=evaluation.label,
            question=None if hidden.question else trace.question,
            response=None if hidden.response else trace.response,
            claims=_evidence(evaluation, hidden),
            target=trace.target,
            service=trace.service,
            route=trace.route,
            link=self._link(result),
            sampling_reason=result.decision.reason,
            suppressed=suppressed,
            time_ns=trace.start_ns,
        )


def fingerprint(result: EvaluatedTrace, evaluation: Evaluation) -> str:
    """`<service>/<metric>/<route>`: alerts that tell of one and the same problem."""
    return f"{result.trace.service or '-'}/{evaluation.name}/{result.trace.route or '-'}"


def _evidence(evaluation: Evaluation, hidden: HiddenContent) -> tuple[ClaimVerdict, ...]:
    """The unsupported claims with what came closest to them, less what must stay in the process."""
    if hidden.response:
        return ()
    return tuple(
        dataclasses.replace(
            claim,
            quotes=() if hidden.documents else claim.quotes,
            explanation=None if hidden.anything else claim.explanation,
        )
        for claim in unsupported(evaluation)
    )
