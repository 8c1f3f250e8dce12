"""Results as span attributes: flat keys under `rag.evaluation.<metric>`.

Phoenix turns dotted keys into nested objects on ingest, so `claims.0.text` becomes a list of objects that its filter
can index. That fails if a key has a value and is also the prefix of another key, so no key here is. An unknown value
is left out: there is no None, no NaN and no empty text.

    rag.evaluation.<metric>.score .risk .lower_is_better .label .explanation .reason_code .evaluator .version .judge
    rag.evaluation.<metric>.claim_count .supported_count .unjudged_count .omitted_claim_count
    rag.evaluation.<metric>.unsupported_claims            string array
    rag.evaluation.<metric>.claims.<n>.text .verdict .support_probability .chunk_ids .quote .explanation .judge
    rag.evaluation.status .status_reason, rag.sampling.reason .probability .rule .rate .coin .stratum .prescore
        .refused
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.evaluation.directions import LOWER_IS_BETTER, lower_is_better
from rag_otel.evaluation.support import UNSUPPORTED
from rag_otel.model import (
    AttributeValue,
    ClaimVerdict,
    EvaluatedTrace,
    Evaluation,
    EvaluationStatus,
    SamplingDecision,
)
from rag_otel.safety.guard import counters, logger
from rag_otel.safety.privacy import HiddenContent, content_hidden

MOST_CLAIMS: Final = 30
"""Claims of an evaluation that are written; of more the worst."""


def evaluation_attributes(
    result: EvaluatedTrace,
    *,
    capture_content: bool = True,
) -> dict[str, AttributeValue]:
    """Returns all attributes that a result adds to its target span, including the status.

    Hidden text (see `hidden_content`) is left out; scores, counts, verdicts and chunk ids stay. At most `MOST_CLAIMS`
    claims are written for each metric, unsupported claims first; `omitted_claim_count` counts the others. An evaluation
    whose name cannot be part of an attribute name is left out, counted and logged. The other evaluations are written.
    """
    attributes = status_attributes(result.status, _status_reason(result), result.decision)
    hidden = hidden_content(result, capture_content=capture_content)
    for evaluation in result.evaluations:
        try:
            prefix = f"{semconv.EVALUATION}.{semconv.check_metric_name(evaluation.name)}."
        except ValueError as error:
            if counters.add("attributes.invalid_metric_name") == 1:
                logger.warning("rag-otel: an evaluation is not written: %s", error)
            continue
        fields = {**_summary(evaluation, hidden), **_claims(evaluation, hidden)}
        attributes.update({prefix + key: value for key, value in fields.items()})
    return attributes


def status_attributes(
    status: EvaluationStatus, reason: str | None = None, decision: SamplingDecision | None = None
) -> dict[str, AttributeValue]:
    """Returns the attributes for the outcome of a trace, its reason, and the sampling decision.

    `reason` is an `UnevaluableReason`, a `SamplingReason` or an error type. None for a status that needs no reason.
    """
    return present(
        {
            semconv.STATUS: str(status),
            semconv.STATUS_REASON: reason,
            semconv.SAMPLING_REASON: decision and decision.reason,
            semconv.SAMPLING_PROBABILITY: decision and decision.probability,
            **({} if decision is None else _policy_fields(decision)),
        }
    )


def _policy_fields(decision: SamplingDecision) -> dict[str, object]:
    """What a sampling policy knows beyond reason and probability."""
    return {
        semconv.SAMPLING_RULE: decision.rule,
        semconv.SAMPLING_RATE: decision.rate,
        semconv.SAMPLING_COIN: decision.coin,
        semconv.SAMPLING_STRATUM: decision.stratum,
        semconv.SAMPLING_PRESCORE: decision.prescore,
        semconv.SAMPLING_REFUSED: decision.refused,
    }


def hidden_content(result: EvaluatedTrace, *, capture_content: bool) -> HiddenContent:
    """Which content of a result must not be written, according to the settings, the trace and the environment.

    Quotes may be slices of earlier turns, so they are hidden with the question too.
    """
    hidden = content_hidden(capture_content=capture_content and result.trace.capture_content)
    quotes_input = hidden.question and bool(result.trace.conversation.evidence)
    return dataclasses.replace(hidden, documents=True) if quotes_input else hidden


def unsupported(evaluation: Evaluation) -> list[ClaimVerdict]:
    """The claims that the chunks contradict or do not mention, in the order of the response."""
    return [claim for claim in evaluation.claims if claim.verdict in UNSUPPORTED]


def present(values: Mapping[str, Any]) -> dict[str, AttributeValue]:
    """Returns `values` without None, NaN, infinity, empty text and empty arrays."""
    return {key: _plain(value) for key, value in values.items() if _is_present(value)}


def claim_fields(claim: ClaimVerdict, hidden: HiddenContent) -> dict[str, AttributeValue]:
    """One claim as flat fields. If content is hidden, the verdict stays and the texts are left out."""
    return present(
        {
            "text": None if hidden.response else claim.claim.text,
            "verdict": claim.verdict,
            "support_probability": claim.support_probability,
            "chunk_ids": claim.chunk_ids,
            "quote": claim.quotes[0].text if claim.quotes and not hidden.documents else None,
            "explanation": None if hidden.anything else claim.explanation,
            "judge": claim.judge,
        }
    )


def _summary(evaluation: Evaluation, hidden: HiddenContent) -> dict[str, AttributeValue]:
    return present(
        {
            "score": evaluation.score,
            "risk": evaluation.risk,
            LOWER_IS_BETTER: lower_is_better(evaluation.name) or None,
            "label": evaluation.label,
            "explanation": None if hidden.anything else evaluation.explanation,
            "reason_code": evaluation.reason_code,
            "evaluator": evaluation.evaluator,
            "version": evaluation.version,
            "judge": evaluation.judge,
            "answered_by": evaluation.answered_by,
            "prompts": evaluation.prompts,
            "cached_calls": (evaluation.usage and evaluation.usage.cached_calls) or None,
        }
    )


def _claims(evaluation: Evaluation, hidden: HiddenContent) -> dict[str, AttributeValue]:
    if not evaluation.claims:
        return {}
    kept = _claims_written(evaluation.claims, MOST_CLAIMS)
    omitted = len(evaluation.claims) - len(kept)
    unjudged = len(evaluation.claims) - evaluation.judged_claims
    fields: dict[str, AttributeValue] = {
        "claim_count": len(evaluation.claims),
        "supported_count": evaluation.supported_claims,
    }
    if unjudged:
        fields["unjudged_count"] = unjudged
    if omitted:
        fields["omitted_claim_count"] = omitted
    if not hidden.response:
        fields |= present({"unsupported_claims": [c.claim.text for c in kept if c.verdict in UNSUPPORTED]})
    return fields | {
        f"claims.{n}.{key}": value for n, claim in enumerate(kept) for key, value in claim_fields(claim, hidden).items()
    }


def _claims_written(claims: Sequence[ClaimVerdict], limit: int) -> list[ClaimVerdict]:
    """At most `limit` claims in the order of the response. Supported claims are dropped before unsupported ones."""
    if len(claims) <= limit:
        return list(claims)
    unsupported_first = sorted(range(len(claims)), key=lambda n: (claims[n].verdict not in UNSUPPORTED, n))
    return [claims[n] for n in sorted(unsupported_first[:limit])]


def _status_reason(result: EvaluatedTrace) -> str | None:
    if result.status is EvaluationStatus.SKIPPED:
        return result.trace.unevaluable_reason or result.decision.reason
    if result.status is not EvaluationStatus.FAILED:
        return None
    return next((e.error_type for e in result.evaluations if e.error_type), None)


def _is_present(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is not None and not (isinstance(value, str | list | tuple) and not value)


def _plain(value: Any) -> AttributeValue:
    """The value in a type that every exporter can encode: enums as text, arrays as lists of text."""
    if isinstance(value, str):
        return _text(value)
    return value if isinstance(value, int | float) else [_text(str(item)) for item in value]


def _text(value: str) -> str:
    """Replaces what UTF-8 cannot encode. One lone surrogate, left by faulty decoding, would fail a whole OTLP batch."""
    return str(value) if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
