"""The straight path, readable in one screen.

    spans -> RagTrace -> SamplingDecision -> Evaluation(s) -> written back -> watched

Every deployment shape (in process, collector, backfill, files) runs this; only the two ends differ.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rag_otel import semconv
from rag_otel.evaluation.chunk_texts import ChunkTexts
from rag_otel.evaluation.current_evaluation import metered
from rag_otel.evaluation.directions import learn_directions
from rag_otel.evaluation.evaluate import evaluate_all
from rag_otel.model import (
    EvaluatedTrace,
    Evaluation,
    EvaluationStatus,
    RagTrace,
    ReasonCode,
    SamplingDecision,
    SamplingReason,
    SpanRecord,
    SpanRef,
)
from rag_otel.protocols import Convention, Evaluator, Sampler, SelectsTraces
from rag_otel.ratings.rating import USER_FEEDBACK
from rag_otel.ratings.words import COMPLAINT_BELOW, share
from rag_otel.safety.guard import counters, guarded
from rag_otel.sampling.amount import REFUSED, EvaluationCap
from rag_otel.sampling.local_only import LocalOnly
from rag_otel.sampling.upstream import upstream_probability

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets


GUARD_RULE: Final = "guard"
"""`SamplingDecision.rule` of a trace that was evaluated because its answer waited for the verdict."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Reads, decides, evaluates: `rag_traces`, `decide`, `admit`, `evaluate`, in this order.

    Holds no state of its own but the cap's bucket.
    """

    conventions: Sequence[Convention]
    """Tried in order; the first that owns the entry span reads the trace."""
    sampler: Sampler
    evaluators: Sequence[Evaluator]
    cap: EvaluationCap | None = None
    budgets: Budgets | None = None
    timeout_s: float = 60.0
    """Deadline of each evaluator of a trace, in seconds."""
    project: str | None = None
    texts: ChunkTexts | None = None
    """Fetches the texts of chunks that have ids alone."""
    calibrate: Callable[[Evaluation], Evaluation] | None = None
    """What people's labels say about the judge, applied to each result."""

    local_only: LocalOnly | None = None
    """Traces that only local judges may see."""

    def __post_init__(self) -> None:
        learn_directions(self.evaluators)

    def rag_traces(self, spans: Sequence[SpanRecord]) -> Iterator[RagTrace]:
        """Every RAG trace that the conventions read in the spans of one trace id, one for each target.

        The convention that is asked first decides. One that raises is logged and counted; the next one is asked.
        """
        targets: set[SpanRef] = set()
        roots = [
            SpanRef(trace_id=each.trace_id, span_id=each.span_id)
            for each in spans
            if each.parent_id is None and each.attributes.get(semconv.SPAN_KIND) != semconv.KIND_EVALUATOR
        ]
        root = roots[0] if len(roots) == 1 else None
        for convention in self.conventions:
            found: list[RagTrace] = []
            with guarded("pipeline.read"):
                found = convention.read(spans)
            for trace in found:
                if trace.target not in targets:
                    targets.add(trace.target)
                    trace = with_sampling_inputs(trace, spans)
                    yield trace if root in (None, trace.target) else dataclasses.replace(trace, root=root)

    def read(self, spans: Sequence[SpanRecord], target: SpanRef) -> RagTrace | None:
        """The RAG trace whose scores belong to `target`; None where no convention finds one."""
        return next((trace for trace in self.rag_traces(spans) if trace.target == target), None)

    async def with_texts(self, trace: RagTrace) -> RagTrace:
        """The trace with the texts of its chunks, fetched where it names them by id alone. To be called before
        `admit`, which refuses a trace whose chunks have no text."""
        return trace if self.texts is None else await self.texts.complete(trace)

    def decide(self, target: SpanRef) -> SamplingDecision:
        """Whether the sampler picks the trace. Called on the request path: microseconds."""
        return self.sampler.decide(target)

    async def admit(self, trace: RagTrace, decision: SamplingDecision) -> tuple[SamplingDecision, str | None]:
        """The decision, and why the trace is not evaluated; None where it is to be evaluated now.

        The order is the same in every shape: the sampler, what the trace lacks, the policy, who may see it, the cap,
        the budgets (the last three are `reserve`). So only a trace that is evaluated takes anything from the cap. What
        the budgets reserved is in the decision, and `evaluate` settles it.
        """
        complaint = trace.rating is not None and trace.rating < COMPLAINT_BELOW
        by_coin = (SamplingReason.RATIO, SamplingReason.NOT_SAMPLED)
        if not decision.sampled and not (complaint and decision.reason in by_coin):
            return decision, decision.reason
        if trace.unevaluable_reason is not None:
            return decision, trace.unevaluable_reason
        if isinstance(self.sampler, SelectsTraces):
            decision = await self.sampler.select(trace)
        if complaint and decision.reason in by_coin:  # whatever the coin said: it is evaluated with certainty
            decision = forced_decision(decision, USER_FEEDBACK)
        if trace.upstream_probability != 1.0:
            decision = dataclasses.replace(decision, probability=decision.probability * trace.upstream_probability)
        if not decision.sampled:
            return decision, decision.reason
        return await self.reserve(trace, decision)

    async def admit_guarded(self, trace: RagTrace, decision: SamplingDecision) -> tuple[SamplingDecision, str | None]:
        """`admit` for an answer that waits for its verdict: the coin is tossed, but does not decide.

        As with a forced rule of a policy, the probability is 1 (that of the samplers before us), so that the weighted
        means stay unbiased. `decision` is that of `decide`; the evaluators that it names stay those that run.
        """
        if trace.unevaluable_reason is not None:
            return decision, trace.unevaluable_reason
        wanted = decision.evaluators
        if isinstance(self.sampler, SelectsTraces):
            decision = await self.sampler.select(trace)
        if decision.reason == SamplingReason.DROPPED:
            return decision, decision.reason
        decision = dataclasses.replace(
            forced_decision(decision, GUARD_RULE), probability=trace.upstream_probability, evaluators=wanted
        )
        return await self.reserve(trace, decision)

    async def reserve(self, trace: RagTrace, decision: SamplingDecision) -> tuple[SamplingDecision, str | None]:
        """The last part of `admit`, for a trace that was picked: who may see it, the cap, the budgets."""
        if self.local_only is not None and not self._chosen(trace, decision):
            refused = dataclasses.replace(decision, sampled=False, reason=SamplingReason.LOCAL_ONLY)
            return refused, SamplingReason.LOCAL_ONLY
        if self.cap is not None and not self.cap.admit():
            return rate_limited(decision), SamplingReason.RATE_LIMITED
        decision = await self.within_budget(trace, decision)
        return decision, None if decision.sampled else decision.reason

    async def within_budget(self, trace: RagTrace, decision: SamplingDecision) -> SamplingDecision:
        """The decision with what the budgets have reserved for the trace; not sampled any more if they refuse it."""
        if self.budgets is None:
            return decision
        metrics = [each.name for each in self._chosen(trace, decision)]
        decision, lease = await self.budgets.admit(trace, decision, metrics)
        return dataclasses.replace(decision, lease=lease)

    def refused(self, trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        """The result of a trace that the budgets refused: every metric says why it was not judged."""
        why = decision.refused or "budget"
        evaluations = tuple(not_paid_for(each, why) for each in self._chosen(trace, decision))
        status = EvaluationStatus.SKIPPED
        return EvaluatedTrace(
            trace=trace, decision=decision, evaluations=evaluations, status=status, project=self.project
        )

    async def evaluate_others(self, trace: RagTrace, judged: EvaluatedTrace) -> EvaluatedTrace:
        """The result of a trace of which some evaluators have judged the answer before it left: theirs as it is, and
        those of the others. `trace` is what is known of it now."""
        known = {each.name: each for each in judged.evaluations}
        others = tuple(each.name for each in self._allowed(trace) if each.name not in known)
        decision = dataclasses.replace(judged.decision, evaluators=None, lease=None)
        result = dataclasses.replace(judged, trace=trace, decision=decision)
        if not others:
            return result
        admitted, reason = await self.reserve(trace, dataclasses.replace(decision, evaluators=others))
        if reason is not None:
            counters.add(f"guard.others_refused.{reason}")
            return dataclasses.replace(result, decision=dataclasses.replace(decision, refused=admitted.refused))
        known = {each.name: each for each in (await self.evaluate(trace, admitted)).evaluations} | known
        evaluations = tuple(known[each.name] for each in self.evaluators if each.name in known)
        failed = all(each.error_type is not None for each in evaluations)
        status = EvaluationStatus.FAILED if failed else EvaluationStatus.EVALUATED
        return dataclasses.replace(result, evaluations=evaluations, status=status)

    def _chosen(self, trace: RagTrace, decision: SamplingDecision) -> list[Evaluator]:
        """The evaluators that the decision names and that may see the trace."""
        wanted = decision.evaluators
        return [each for each in self._allowed(trace) if wanted is None or each.name in wanted]

    def _allowed(self, trace: RagTrace) -> Sequence[Evaluator]:
        return self.evaluators if self.local_only is None else self.local_only.allowed(trace, self.evaluators)

    async def evaluate(self, trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        """Run the chosen evaluators side by side; what fails or runs out of time is a failed `Evaluation`."""
        chosen = self._chosen(trace, decision)
        evaluations: tuple[Evaluation, ...] | None = None
        with metered() as spent:
            try:
                evaluations = await evaluate_all(
                    chosen,
                    question=trace.question,
                    chunks=trace.chunks,
                    response=trace.response or "",
                    reference=trace.reference,
                    conversation=trace.conversation,
                    timeout_s=self.timeout_s,
                )
            finally:
                if self.budgets is not None and decision.lease is not None:
                    await asyncio.shield(self.budgets.settle(decision.lease, evaluations, spent.usage))
        if self.calibrate is not None:
            evaluations = tuple(map(self.calibrate, evaluations))
        if decision.refused is not None and decision.evaluators is not None:
            others = (each for each in self._allowed(trace) if each not in chosen)
            evaluations = (*evaluations, *(not_paid_for(each, decision.refused) for each in others))
        failed = bool(evaluations) and all(e.error_type is not None for e in evaluations)
        return EvaluatedTrace(
            trace=trace,
            decision=decision,
            evaluations=evaluations,
            status=EvaluationStatus.FAILED if failed else EvaluationStatus.EVALUATED,
            project=self.project,
        )


def forced_decision(decision: SamplingDecision, rule: str) -> SamplingDecision:
    """The decision on a trace that is evaluated whatever the coin says, with what the coin said about it."""
    if decision.reason == SamplingReason.ALWAYS:
        return decision
    return dataclasses.replace(
        decision,
        sampled=True,
        reason=SamplingReason.FORCED,
        probability=1.0,
        rule=decision.rule or rule,
        rate=decision.probability if decision.rate is None else decision.rate,
        coin=decision.sampled if decision.coin is None else decision.coin,
    )


def not_paid_for(evaluator: Evaluator, why: str) -> Evaluation:
    """The result of a metric that the budget refused."""
    return Evaluation(
        name=evaluator.name,
        reason_code=ReasonCode.BUDGET,
        explanation=f"Not judged: {why}.",
        evaluator=type(evaluator).__qualname__,
        version=evaluator.version,
        judge=evaluator.judge_name,
    )


def rate_limited(decision: SamplingDecision) -> SamplingDecision:
    """The decision on a trace that the sampler picked and the cap refused."""
    counters.add(REFUSED)
    return _turned_away(decision, SamplingReason.RATE_LIMITED)


def queue_full(decision: SamplingDecision) -> SamplingDecision:
    """The decision on a trace for which there was no room."""
    counters.add(REFUSED)
    return _turned_away(decision, SamplingReason.QUEUE_FULL)


@functools.lru_cache(256)  # on the request path: a lookup is ten times as fast as a copy
def _turned_away(decision: SamplingDecision, reason: SamplingReason) -> SamplingDecision:
    return dataclasses.replace(decision, sampled=False, reason=reason)


def with_sampling_inputs(trace: RagTrace, spans: Sequence[SpanRecord]) -> RagTrace:
    """The trace with what samplers before us and users said about it on its target span."""
    target = next((span for span in spans if span.span_id == trace.target.span_id), None)
    if target is None:
        return trace
    rating, upstream = _rating(target, spans), upstream_probability(target.trace_state)
    if rating is not None:
        trace = dataclasses.replace(trace, rating=rating)
    return trace if upstream == 1.0 else dataclasses.replace(trace, upstream_probability=upstream)


def _rating(target: SpanRecord, spans: Sequence[SpanRecord]) -> float | None:
    """The rating on the target span, else on a feedback span of the answer or of the whole trace."""
    said = (
        each
        for each in spans
        if semconv.FEEDBACK_RATING in each.attributes
        and each.attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR
        and each.parent_id in (None, target.span_id)
    )
    for span in (target, *sorted(said, key=lambda each: each.start_ns, reverse=True)):
        rating = share(span.attributes.get(semconv.FEEDBACK_RATING))
        if rating is not None:
            return rating
    return None
