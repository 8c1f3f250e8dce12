"""The evaluation span: a child of the target span, of kind EVALUATOR, with the claims and verdicts as readable text.

If the result arrived after the target span was exported, or the trace was skipped, the evaluation span carries every
attribute of the result. Otherwise the target span has those attributes, and the evaluation span does not repeat them.

OpenInference (spec/annotations.md, "Post-Hoc Feedback") asks for a new span with exactly one link to the target. This
span is also a child of the target, because most trace views ignore links. It starts and ends at the end of the target:
a later end would make the trace look slower than it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, TraceFlags

from rag_otel import semconv
from rag_otel.model import (
    AttributeValue,
    ClaimVerdict,
    EvaluatedTrace,
    Evaluation,
    EvaluationStatus,
    SpanRef,
    Verdict,
)
from rag_otel.safety.privacy import HiddenContent
from rag_otel.writers.annotations import annotations_of
from rag_otel.writers.attributes import MOST_CLAIMS, evaluation_attributes, hidden_content, present

_NOT_ON_TARGET = frozenset({EvaluationStatus.LATE, EvaluationStatus.SKIPPED})
When = Literal["always", "late"]
_SIGNS: Final = {
    Verdict.CONTRADICTED: "✗ contradicted",
    Verdict.NOT_ENOUGH_INFO: "✗ not enough info",
    Verdict.UNJUDGED: "? unjudged",
    Verdict.SUPPORTED: "✓ supported",
}
_ORDER: Final = tuple(_SIGNS)
"""Unsupported claims come first."""
_INDENT: Final = "    "


class EvaluationSpanWriter:
    """Emits one evaluation span for each result. With `when="late"`, only for results that are not on their target."""

    name = "evaluation_span"

    def __init__(
        self,
        emit: Callable[[ReadableSpan], None],
        resource: Callable[[], Resource],
        *,
        capture_content: bool = True,
        when: When = "always",
    ) -> None:
        """`emit` exports the spans of results without an `origin`. `resource` is called at each write, because the
        application may set its provider later."""
        self._emit = emit
        self._resource = resource
        self._capture_content = capture_content
        self._when = when

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        for result in batch:
            if self._when == "always" or result.status in _NOT_ON_TARGET:
                emit = self._emit if result.origin is None else result.origin.emit
                emit(self.span(result))

    def span(self, result: EvaluatedTrace) -> ReadableSpan:
        """Returns the evaluation span. The same result gives the same span id, so a repeated write is recognised."""
        target = result.trace.target
        names = ", ".join(evaluation.name for evaluation in result.evaluations) or str(result.status)
        return made_span(
            f"evaluation {names}",
            trace_id=target.trace_id,
            span_id=carrier_span_id(result),
            below=target.span_id,
            resource=self._resource() if result.origin is None else result.origin.resource,
            attributes=self._attributes(result),
            time_ns=result.trace.start_ns + result.trace.duration_ns,
        )

    def _attributes(self, result: EvaluatedTrace) -> dict[str, AttributeValue]:
        attributes: dict[str, AttributeValue] = {semconv.SPAN_KIND: semconv.KIND_EVALUATOR}
        if result.evaluations:
            hidden = hidden_content(result, capture_content=self._capture_content)
            text = evaluations_as_text(result.evaluations, hidden, max_claims=MOST_CLAIMS)
            attributes |= present({semconv.OUTPUT_VALUE: text, semconv.OUTPUT_MIME_TYPE: semconv.MIME_TEXT})
        if result.status not in _NOT_ON_TARGET:
            return attributes
        for n, item in enumerate(annotations_of(result, capture_content=self._capture_content)):
            attributes |= item.span_attributes(n)
        return attributes | evaluation_attributes(result, capture_content=self._capture_content)


def job_key(target: SpanRef, evaluation: Evaluation) -> str:
    """Identifies one evaluation of one span by one version of one judge. The same in every process; 32 hex digits."""
    parts = (
        target.trace_id,
        target.span_id,
        evaluation.name,
        evaluation.evaluator,
        evaluation.version,
        evaluation.judge,
    )
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def carrier_span_id(result: EvaluatedTrace) -> int:
    """Returns a valid span id (64 bits, not 0), derived from the target and the job keys of its evaluations."""
    target = result.trace.target
    keys = sorted(job_key(target, evaluation) for evaluation in result.evaluations)
    if not keys:
        keys = [f"{target.trace_id}\0{target.span_id}\0{result.status}"]
    return span_id_of("".join(keys))


def evaluations_as_text(evaluations: Sequence[Evaluation], hidden: HiddenContent, *, max_claims: int) -> str:
    """Returns one block of lines per evaluation, each with at most `max_claims` claims and the number of the others.

        faithfulness 0.50: unfaithful, risk 0.91. 1 of 2 claims supported.

        ✗ contradicted: The tower was finished in 1899.
            chunk tower-2: "It was completed in March 1889."
            1889 is not 1899.

        ✓ supported: It stands in Paris.
            chunk tower-1: "The tower stands in Paris."

    Trace views show the output of a span as text. The lines are also readable when a view renders them as Markdown.
    `hidden` text of the answer or of the chunks is left out; verdicts, counts and chunk ids stay.
    """
    return "\n\n".join("\n".join(_block(each, hidden, max_claims)) for each in evaluations)


def _block(evaluation: Evaluation, hidden: HiddenContent, max_claims: int) -> Iterator[str]:
    yield _headline(evaluation)
    if evaluation.explanation and not evaluation.claims and not hidden.anything:
        yield f"{_INDENT}{_one_line(evaluation.explanation)}"
    claims = sorted(evaluation.claims, key=lambda each: _ORDER.index(each.verdict))
    for claim in claims[:max_claims]:
        yield ""
        yield from _claim(claim, hidden)
    if len(claims) > max_claims:
        yield ""
        yield f"({len(claims) - max_claims} more claims)"


def _headline(evaluation: Evaluation) -> str:
    score = "no score" if evaluation.score is None else f"{evaluation.score:.2f}"
    facts = [evaluation.label or "", "" if evaluation.risk is None else f"risk {evaluation.risk:.2f}"]
    if evaluation.reason_code:
        facts.append(f"reason {evaluation.reason_code}")
    rest = ", ".join(filter(None, facts))
    line = f"{evaluation.name} {score}" + (f": {rest}." if rest else ".")
    if evaluation.claims:
        line += f" {evaluation.supported_claims} of {len(evaluation.claims)} claims supported."
    return line


def _claim(claim: ClaimVerdict, hidden: HiddenContent) -> Iterator[str]:
    sign = _SIGNS[claim.verdict]
    yield sign if hidden.response else f"{sign}: {_one_line(claim.claim.text)}"
    quoted = () if hidden.documents else claim.quotes
    for quote in quoted:
        yield f'{_INDENT}chunk {quote.chunk_id}: "{_one_line(quote.text)}"'
    without_quote = [each for each in claim.chunk_ids if each not in {quote.chunk_id for quote in quoted}]
    if without_quote:
        yield (
            f"{_INDENT}chunks {', '.join(without_quote)}"
            if len(without_quote) > 1
            else (f"{_INDENT}chunk {without_quote[0]}")
        )
    if claim.explanation and not hidden.anything:
        yield f"{_INDENT}{_one_line(claim.explanation)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def made_span(
    name: str,
    *,
    trace_id: str,
    span_id: int,
    below: str | None,
    resource: Resource,
    attributes: Mapping[str, AttributeValue],
    time_ns: int,
) -> ReadableSpan:
    """A span that starts and ends at `time_ns`, a child of the span `below` and linked to it.

    It counts as sampled: what it is about was sampled, and exporting processors drop spans without the flag.
    """
    parent = None if below is None else _context(trace_id, int(below, 16))
    return ReadableSpan(
        name=name,
        context=_context(trace_id, span_id),
        parent=parent,
        resource=resource,
        attributes=attributes,
        links=(Link(parent),) if parent is not None else (),
        start_time=time_ns,
        end_time=time_ns,
        instrumentation_scope=InstrumentationScope(semconv.SCOPE),
    )


def span_id_of(*parts: str) -> int:
    """A valid span id (64 bits, not 0) that is a hash of these texts: made again, the span is recognised."""
    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") or 1


def _context(trace_id: str, span_id: int) -> SpanContext:
    return SpanContext(
        trace_id=int(trace_id, 16), span_id=span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED)
    )
