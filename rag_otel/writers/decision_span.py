"""The call of a judge that is a decision model, as a span of kind DECISION below the evaluation span.

It tells the model, the version that answered, the tokens and how many claims got no verdict; what was asked and
answered is masked, because it quotes the trace. Source: OpenInference, spec/decision_spans.md.
"""

from __future__ import annotations

import re
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from rag_otel import semconv
from rag_otel.model import Evaluation, Verdict
from rag_otel.writers.attributes import present
from rag_otel.writers.made_spans import made_span, span_id_of

_ONE_MODEL: Final = re.compile(r"(?:cascade\(embedded,)?decisions/(?P<provider>[^/]+)/(?P<model>[^,()]+)\)?")
"""A judge all of whose calls go to one decision model."""
_OPENAI: Final = frozenset({"openai", "azure_ai", "fireworks_ai"})
"""Providers that speak OpenAI's form; all others speak TypeSafe's."""


def decision_spans(above: ReadableSpan, evaluations: tuple[Evaluation, ...]) -> list[ReadableSpan]:
    """One span for each evaluation that asked a decision model, below `above`, the evaluation span."""
    return [span for evaluation in evaluations if (span := _span(above, evaluation)) is not None]


def _span(above: ReadableSpan, evaluation: Evaluation) -> ReadableSpan | None:
    judge, usage, context = _ONE_MODEL.fullmatch(evaluation.judge), evaluation.usage, above.context
    if judge is None or usage is None or not usage.calls or context is None:
        return None
    unjudged = sum(claim.verdict is Verdict.UNJUDGED for claim in evaluation.claims)
    answered = {claim.judge for claim in evaluation.claims} | {evaluation.answered_by}
    versions = sorted(name for name in answered if name and name.startswith("decisions/"))
    return made_span(
        f"decision {evaluation.name}",
        trace_id=f"{context.trace_id:032x}",
        span_id=span_id_of(f"{context.span_id:016x}", evaluation.name),
        below=f"{context.span_id:016x}",
        resource=above.resource,
        attributes=present(
            {
                semconv.SPAN_KIND: semconv.KIND_DECISION,
                semconv.DECISION_SYSTEM: "openai" if judge["provider"] in _OPENAI else "typesafe",
                semconv.DECISION_PROVIDER: judge["provider"],
                semconv.DECISION_MODEL_NAME: judge["model"],
                semconv.DECISION_REQUEST_MODEL_NAME: judge["model"],
                semconv.DECISION_RESPONSE_MODEL_NAME: versions[-1].split("/", 2)[2] if versions else judge["model"],
                semconv.DECISION_TOKENS_IN: usage.input_tokens,
                semconv.DECISION_TOKENS_OUT: usage.output_tokens,
                semconv.INPUT_VALUE: semconv.REDACTED,
                semconv.OUTPUT_VALUE: semconv.REDACTED,
                semconv.metric_key(evaluation.name, "unjudged_count"): unjudged,
                semconv.metric_key(evaluation.name, "reason_code"): evaluation.reason_code,
            }
        ),
        time_ns=above.end_time or 0,
        linked=False,
    )
