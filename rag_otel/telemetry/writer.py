"""Records results as metrics: scores, claims, outcomes, duration and cost of the judge. Exemplars link to the spans."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider, get_meter_provider
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from rag_otel.model import EvaluatedTrace, Evaluation, SpanRef
from rag_otel.telemetry import names
from rag_otel.telemetry.instruments import Instruments
from rag_otel.telemetry.labels import BoundedLabels, BoundedSets

TENANT: str = "tenant"
"""The tag of a trace whose value becomes the label `tenant`."""
_JUDGE: Final = ("metric", "judge")
_WHERE: Final = ("service", "route")
_FADING: Final = ("tenant", "model", "route", "service")
"""What a combination of labels loses first where there are too many."""
SCORED = "scored"
UNSCORED = "unscored"
FAILED = "failed"


class TelemetryWriter:
    """A `Writer` that records results with instruments. It never reads texts, so no text can become a label."""

    name = "telemetry"

    def __init__(
        self, instruments: Callable[[], Instruments | None], *, max_values: int = 50, max_sets: int = 100
    ) -> None:
        """`instruments` is called for each batch; if it returns None, nothing is recorded. Each label keeps
        `max_values` values, all together keep `max_sets` combinations."""
        self._instruments = instruments
        self._labels = BoundedLabels(max_values)
        self._sets = BoundedSets(max_sets, fading=_FADING)

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Records each evaluation once. Never raises RetryableError, because a retry would count results twice."""
        instruments = self._instruments()
        if instruments is None:
            return
        for result in batch:
            context = span_context(result.trace.target)
            for evaluation in result.evaluations:
                self._record(instruments, result, evaluation, context)

    def _record(
        self, instruments: Instruments, result: EvaluatedTrace, evaluation: Evaluation, context: Context
    ) -> None:
        trace = result.trace
        named = {
            "metric": evaluation.name,
            "judge": evaluation.judge,
            "service": trace.service,
            "route": trace.route,
            "tenant": trace.tags.get(TENANT),
            "model": trace.model,
        }
        answer = self._sets.bounded(self._labels.bounded(named))
        judge = {label: value for label, value in answer.items() if label in _JUDGE}
        where = {label: value for label, value in answer.items() if label in _WHERE}
        if evaluation.score is not None:
            instruments.record(names.SCORE, evaluation.score, answer, context)
        if evaluation.risk is not None:
            instruments.record(names.RISK, evaluation.risk, answer, context)
        for verdict, count in Counter(str(claim.verdict) for claim in evaluation.claims).items():
            instruments.record(names.CLAIMS, count, {"verdict": verdict, **answer}, context)
        outcome_labels = self._labels.bounded({"outcome": outcome(evaluation), "reason": evaluation.reason_code})
        instruments.record(names.EVALUATIONS, 1, {**judge, **where, **outcome_labels}, context)
        instruments.record(names.JUDGE_DURATION, evaluation.duration_s, judge, context)
        _record_usage(instruments, evaluation, judge, context)


def application_instruments(provider: MeterProvider | None) -> Callable[[], Instruments | None]:
    """Returns what gives the instruments on the application's meter provider; None while it has none.

    `provider` is used instead of the global provider, which the application may set later. The instruments are created
    now, so that they are read from then on.
    """
    made = _global_instruments() if provider is None else Instruments(provider)

    def instruments() -> Instruments | None:
        return None if provider is None and does_nothing(get_meter_provider()) else made

    return instruments


@functools.cache
def _global_instruments() -> Instruments:
    """On the global provider once per process, because instruments cannot be removed."""
    return Instruments(None)


def does_nothing(provider: object) -> bool:
    """True for the API's proxy providers, which are in place until the application sets a provider."""
    return type(provider).__module__.startswith(("opentelemetry.metrics", "opentelemetry._logs"))


def outcome(evaluation: Evaluation) -> str:
    """`failed` if the evaluation has an error, `scored` if it has a score, else `unscored`."""
    if evaluation.error_type is not None:
        return FAILED
    return UNSCORED if evaluation.score is None else SCORED


def span_context(target: SpanRef) -> Context:
    """A context whose current span is the evaluated span. That span has ended, but the recorded values belong to it."""
    # The sampled flag is set: the span was sampled, and the SDK keeps exemplars only of sampled spans.
    span = SpanContext(
        trace_id=int(target.trace_id, 16),
        span_id=int(target.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
    return set_span_in_context(NonRecordingSpan(span), Context())


def _record_usage(instruments: Instruments, evaluation: Evaluation, judge: dict[str, str], context: Context) -> None:
    usage = evaluation.usage
    if usage is None:
        return
    for direction, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
        if tokens:
            instruments.record(names.JUDGE_TOKENS, tokens, {"direction": direction, **judge}, context)
    if usage.cost_usd is not None:
        instruments.record(names.JUDGE_COST, usage.cost_usd, judge, context)
