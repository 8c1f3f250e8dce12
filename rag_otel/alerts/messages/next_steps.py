"""Where a reader of an alert goes next: what to do first, the chart, the section of the runbook.

The first step is one sentence; the runbook has the rest under the alert's name.
"""

from __future__ import annotations

import dataclasses
from typing import Final
from urllib.parse import quote

from rag_otel.alert import Alert, AlertState

_READ: Final = "open the trace and read the marked claims against the quotes; correct the source or tell the user."
_DRIFT: Final = (
    "compare the time with deployments of model, prompt, index and retriever; undo the one that fits. If the change is "
    "wanted, accept it: rag-otel drift --state FOLDER --relearn (FOLDER: the application's state_folder)."
)
NEXT_STEPS: Final = {
    "unfaithful_answer": _READ,
    "contradicted_claim": "open the trace and read the quote that contradicts the claim; correct the source.",
    "low_score": _READ,
    "high_score": _READ,
    "high_risk": _READ,
    "answers_to_review": "read the worst answers in working hours; mark in Phoenix which were really wrong.",
    "budget_low": "raise the budget, lower the rates of the sampling policy, or let it run out.",
    "budget_spent": "raise the budget, or lower the rates: `rag-otel traces plan` shows what a policy costs.",
    "alerts_digest": "start with the worst answer; each problem of the digest has its own section in the runbook.",
    "slo_burn_rate": "compare the time with your deployments; undo the one that fits.",
    "drift_score": _DRIFT,
    "drift_risk": _DRIFT,
    "drift_unjudged": "open a trace without a score and read rag.evaluation.status_reason.",
    "judge_moved": "ask who changed the judge's model, prompt or version; scores since then are on another scale.",
    "evaluators_silent": "run `rag-otel doctor` where the application runs; nobody watches the answers now.",
    "evaluator_failing": "look at the judge's service, quota and key; the error's name is in the headline.",
}
_MS: Final = 1_000_000
_BEFORE_MS: Final = 3_600_000
"""A chart begins this long before the problem did, so that its beginning is seen."""


def next_step(alert: Alert) -> str:
    """Empty for an alert that is over, or that is not ours."""
    return "" if alert.state is AlertState.RESOLVED else NEXT_STEPS.get(alert.name, "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlertLinks:
    """The addresses that the settings give."""

    chart: str | None = None
    """A dashboard's address; `{service}`, `{route}`, `{from}` and `{to}` (milliseconds) are filled in."""
    runbook: str | None = None
    """The page whose sections are named like the alerts."""

    def on(self, alert: Alert) -> Alert:
        """The alert with both links, where they are known and it has none."""
        return dataclasses.replace(
            alert,
            chart=alert.chart or self._chart(alert),
            runbook=alert.runbook or (f"{self.runbook}#{quote(alert.name)}" if self.runbook else None),
        )

    def _chart(self, alert: Alert) -> str | None:
        if self.chart is None:
            return None
        began = (alert.since_ns or alert.time_ns) // _MS
        address = self.chart
        for name, value in {
            "service": quote(alert.service or "", safe=""),
            "route": quote(alert.route or "", safe=""),
            "from": str(max(0, began - _BEFORE_MS)),
            "to": str(max(alert.time_ns // _MS, began) + _BEFORE_MS),
        }.items():
            address = address.replace(f"{{{name}}}", value)
        return address
