"""What to do first about each alert, in one sentence; the runbook has the rest under the same name."""

from __future__ import annotations

from typing import Final

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


def next_step(alert: Alert) -> str:
    """Empty for an alert that is over, or that is not ours."""
    return "" if alert.state is AlertState.RESOLVED else NEXT_STEPS.get(alert.name, "")
