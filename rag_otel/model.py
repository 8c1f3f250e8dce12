"""The data types of rag-otel: spans, chunks, RAG traces, sampling decisions, claims and evaluations.

Every type is a frozen, keyword-only dataclass of the standard library: cheap to create on the request path and
safe to pass to another thread. A failed evaluation is an `Evaluation` with an `error_type`, never a missing row.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

from rag_otel.lazy_dataclass import dataclass

AttributeValue: TypeAlias = str | bool | int | float | Sequence[str] | Sequence[bool] | Sequence[int] | Sequence[float]


class StatusCode(enum.StrEnum):
    """How a span ended, in OpenTelemetry's three states."""

    UNSET = "unset"
    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """A finished span. It may have been read from the SDK, OTLP protobuf, OTLP/JSON or Phoenix."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""
    parent_id: str | None = None
    """The parent's span id, None for a root."""
    name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Flat keys as the instrumentation wrote them."""
    resource: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of the resource (`service.name`, ...)."""
    scope: str = ""
    """Name of the instrumentation scope."""
    status: StatusCode = StatusCode.UNSET
    start_ns: int = 0
    """Start, nanoseconds since the epoch."""
    end_ns: int = 0
    """End, nanoseconds since the epoch."""
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """(name, attributes) of each event, in order."""
    dropped_attributes: int = 0
    """How many attributes the SDK dropped because of its limits. It drops the oldest first, often `input.value`."""
    trace_state: str = ""
    """The W3C `tracestate` of the span, as one header. Empty if there is none, or the source does not keep it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRef:
    """Identifies a span."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One retrieved passage, as the retriever returned it."""

    id: str
    """The vector store's id, or the position as text if the store gave none. Unique within a trace."""
    text: str
    position: int
    """0-based rank in the final list of chunks from which the answer was generated."""
    score: float | None = None
    """The retriever's score, on the retriever's scale."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    has_id: bool = True
    """False if the store gave no id and `id` is the position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What an answer may rest on besides the retrieved chunks: memory, and earlier turns of the conversation."""

    memory: tuple[Chunk, ...] = ()
    """What the application remembered, with ids `memory-1`, `memory-2`, ..."""
    turns: tuple[Chunk, ...] = ()
    """Earlier messages that count as context, oldest first: `turn-1` is the user's first message, `turn-1-answer` the
    assistant's answer to it."""
    previous_question: str | None = None
    """The user's message before the question."""

    @property
    def evidence(self) -> tuple[Chunk, ...]:
        """Memory and turns."""
        return self.memory + self.turns


NO_CONVERSATION: Final = Conversation()


class UnevaluableReason(enum.StrEnum):
    """Why a RAG trace cannot be evaluated."""

    NO_QUESTION = "no_question"
    NO_CHUNKS = "no_chunks"
    """The trace has no retrieval. A retrieval with no results is evaluable: its claims have no evidence."""
    NO_CHUNK_TEXT = "no_chunk_text"
    """The chunks have ids but no text: the instrumentation does not record the passages."""
    NO_RESPONSE = "no_response"
    INCOMPLETE = "incomplete"
    """A stream was closed before its end, or spans of the trace are missing."""
    ERROR = "error"
    """The application failed, so there is no answer to judge."""
    REDACTED = "redacted"
    """A privacy setting hid the content."""
    TRUNCATED = "truncated"
    """Attribute limits, or the limit of text that is recorded for one call, dropped text that would be judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The span and the attribute from which a part of a RAG trace was read. `rag-otel inspect --explain` prints it."""

    part: str
    """`question`, `chunks` or `response`."""
    span: SpanRef
    span_name: str
    attribute: str
    """The attribute's name, `<prefix>.*` for flattened attributes, or `events` if the text is in the span's events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RagTrace:
    """One question, the chunks retrieved for it, and the answer. This is the unit that is sampled and evaluated."""

    target: SpanRef
    """The span that gets the scores."""
    chunk_span: SpanRef | None = None
    """The span that holds `retrieval.documents`, for per-chunk annotations."""
    root: SpanRef | None = None
    """The root span of the whole trace. None if it is unknown or is the target. Lists of traces show root spans."""
    question: str | None = None
    chunks: tuple[Chunk, ...] = ()
    response: str | None = None
    conversation: Conversation = NO_CONVERSATION
    """Earlier turns and memory, where the application says that they count as context."""
    reference: str | None = None
    """A known good answer, if the application has one."""
    model: str | None = None
    """Name of the model that generated the answer."""
    response_id: str | None = None
    """The provider's id of the model's answer, if a span records it."""
    session_id: str | None = None
    user_id: str | None = None
    service: str | None = None
    route: str | None = None
    """Name of the target span: the entry point that produced the answer."""
    tags: Mapping[str, str] = field(default_factory=dict)
    start_ns: int = 0
    """Start of the target span, nanoseconds since the epoch."""
    duration_ns: int = 0
    convention: str = ""
    """Name of the convention that read this trace."""
    sources: tuple[Source, ...] = ()
    """Where the question, the chunks and the response were read."""
    capture_content: bool = True
    """False if the observed call disabled content capture. Then scores, counts and chunk ids are written, but no text
    of the call."""
    rating: float | None = None
    """A user's rating of the answer, 0..1; a thumbs-down is 0. None: nobody has rated it so far."""
    upstream_probability: float = 1.0
    """Probability in (0, 1] with which samplers before us kept the trace, from `ot=th` in its tracestate."""
    unevaluable_reason: UnevaluableReason | None = None
    """Why the trace cannot be evaluated. None if it can be."""

    @property
    def evaluable(self) -> bool:
        """True if question, chunks and response are available to the evaluators."""
        return self.unevaluable_reason is None

    @property
    def characters(self) -> int:
        """Characters of all texts that a judge may be shown."""
        texts = (self.question or "", self.response or "", self.conversation.previous_question or "")
        chunks = (*self.chunks, *self.conversation.evidence)
        return sum(map(len, texts)) + sum(len(chunk.text) for chunk in chunks)


class SamplingReason(enum.StrEnum):
    """Why a trace was sampled for evaluation, or was not."""

    ALWAYS = "always"
    """Every trace is sampled: the ratio is 1."""
    RATIO = "ratio"
    """The sampler selected the trace."""
    FORCED = "forced"
    """A rule of the sampling policy selects every trace like this one, or a user complained before the decision."""
    EXTRA = "extra"
    """A rule forced the trace while the coin's share of a budget was spent, or only metrics that cost nothing were
    evaluated then. It is no part of the sample, because no other trace was evaluated like it."""
    RATED = "rated"
    """A person rated the stored answer, and it was evaluated for that. It is no part of the sample."""
    NOT_SAMPLED = "not_sampled"
    """The sampler did not select the trace."""
    DROPPED = "dropped"
    """A drop rule of the sampling policy: traces like this one are never evaluated."""
    BUDGET = "budget"
    """The budget was spent; `SamplingDecision.refused` says which one."""
    UNDECIDED = "undecided"
    """The sampling policy was not asked, because the trace could not be evaluated or there was no room for it."""
    RATE_LIMITED = "rate_limited"
    """The limit of evaluations per minute was reached."""
    QUEUE_FULL = "queue_full"
    """The queue was full. Traces that are already in it are never removed to make room."""
    LOCAL_ONLY = "local_only"
    """Only local judges may see the trace, and no configured judge is local."""
    UNEVALUABLE = "unevaluable"
    """The trace cannot be evaluated; see `RagTrace.unevaluable_reason`."""


OUTSIDE_SAMPLE: Final = frozenset({SamplingReason.EXTRA, SamplingReason.RATED})
"""Reasons of traces that were evaluated, but are part of no estimate of all traffic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingDecision:
    """Whether a trace is evaluated, the reason, and the sampling probability."""

    sampled: bool
    reason: str
    """A `SamplingReason`, or `unevaluable:<reason>`."""
    probability: float
    """Probability in (0, 1] with which a trace like this one is evaluated. Statistics weight the score by its inverse.
    What samplers before us left out is counted: their probability is multiplied in."""
    evaluators: tuple[str, ...] | None = None
    """Names of the evaluators to run. None: all of them."""
    rule: str | None = None
    """Name of the policy's rule that forced or dropped the trace."""
    rate: float | None = None
    """The coin's rate for the trace, if a policy decided."""
    coin: bool | None = None
    """True if the coin selected the trace, whatever rule forced it too."""
    stratum: str | None = None
    """The stratum whose rate was used: `route=/ask, tenant=acme`."""
    prescore: float | None = None
    """Risk in 0..1 that the embedded judge gave the trace before the decision."""
    refused: str | None = None
    """Which budget refused the trace, or the metrics of it that cost money."""
    lease: Any = field(default=None, compare=False, repr=False)
    """A `budgets.budgets.Lease`: what was reserved for the evaluation."""

    @property
    def in_sample(self) -> bool:
        """False for an answer that weighs nothing in means of all traffic: those that the sampler selected stand for
        it."""
        return self.reason not in OUTSIDE_SAMPLE


class Verdict(enum.StrEnum):
    """Whether the chunks support a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_ENOUGH_INFO = "not_enough_info"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement in the response that can be checked against the chunks, and its position in the response."""

    text: str
    """The text that is judged: the verbatim slice, preceded by the list's introduction if the claim is a list item."""
    sentence_index: int
    """0-based index of the sentence that contains the claim."""
    start: int
    """Start offset of the verbatim slice in the response, in characters."""
    end: int
    """End offset (exclusive), in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A verbatim slice of a chunk: `text == chunk.text[start:end]`."""

    chunk_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """A claim with its verdict, the chunk ids and quotes behind the verdict, and an explanation."""

    claim: Claim
    verdict: Verdict
    chunk_ids: tuple[str, ...] = ()
    """Chunks that support (or contradict) the claim, best first. Empty if no chunk is close to the claim."""
    quotes: tuple[Quote, ...] = ()
    """The closest passages, best first. An unsupported claim has them too."""
    explanation: str | None = None
    support_probability: float | None = None
    """Probability in 0..1 that the chunks support the claim, for every verdict. None if the judge does not give it."""
    judge: str | None = None
    """The judge that decided this claim, if several judges shared the claims. None: the evaluation's judge."""

    def to_dict(self) -> dict[str, Any]:
        """The claim, its verdict and its evidence as JSON values."""
        return {
            "text": self.claim.text,
            "sentence_index": self.claim.sentence_index,
            "start": self.claim.start,
            "end": self.claim.end,
            "verdict": str(self.verdict),
            "support_probability": self.support_probability,
            "chunk_ids": list(self.chunk_ids),
            "quotes": [
                {"chunk_id": quote.chunk_id, "start": quote.start, "end": quote.end, "text": quote.text}
                for quote in self.quotes
            ],
            "explanation": self.explanation,
            **({} if self.judge is None else {"judge": self.judge}),
        }


class ReasonCode(enum.StrEnum):
    """Why an evaluation has no score. `no_context` also marks scores of answers that had no chunks."""

    NO_CLAIMS = "no_claims"
    ABSTAINED = "abstained"
    NO_CONTEXT = "no_context"
    PARSE_ERROR = "parse_error"
    TIMEOUT = "timeout"
    JUDGE_ERROR = "judge_error"
    BUDGET = "budget"
    """The cost limit was reached before."""
    NO_QUESTION = "no_question"
    """The metric needs the question, and there is none."""
    NO_RESPONSE = "no_response"
    NO_REFERENCE = "no_reference"
    """The metric needs a known good answer, and there is none."""
    INCOMPLETE = "incomplete"
    """The judge's answer lacked a part that the formula needs, and so did its second answer."""
    EMBEDDING_ERROR = "embedding_error"
    """The embedder returned vectors that cannot be compared."""
    TOO_LONG = "too_long"
    """The answer or the retrieved text is too long, so only a part of it was judged."""
    NOT_SCORED = "not_scored"
    """A custom metric returned no score."""


WITHOUT_SCORE_BY_NATURE: Final = frozenset(
    {
        ReasonCode.NO_CLAIMS,
        ReasonCode.ABSTAINED,
        ReasonCode.NO_CONTEXT,
        ReasonCode.NO_QUESTION,
        ReasonCode.NO_RESPONSE,
        ReasonCode.NO_REFERENCE,
        ReasonCode.NOT_SCORED,
    }
)
"""Reasons that lie in the answer or in what is known of it: judged again, it would have no score either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, calls and cost of an evaluation."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """US dollars. None if the price is unknown; 0 for judges that cost nothing."""
    calls: int = 0
    cached_calls: int = 0
    """Calls that were not made, because a cache had the answer. They cost nothing and are not in `calls`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The result of one evaluator on one trace. A failed evaluation has an error type and a reason code, no score."""

    name: str
    """The metric: `faithfulness`, ..."""
    score: float | None = None
    """0..1, higher is better (only noise sensitivity: lower). None if there is no score; then `reason_code` says
    why."""
    risk: float | None = None
    """Calibrated probability in 0..1 that the answer contains at least one unsupported claim."""
    label: str | None = None
    explanation: str | None = None
    reason_code: str | None = None
    """A `ReasonCode`, or a code defined by the evaluator."""
    claims: tuple[ClaimVerdict, ...] = ()
    chunk_scores: tuple[float | None, ...] = ()
    """One per chunk of the trace, by position; empty for metrics that score no chunks."""
    answer: Mapping[str, Any] | None = None
    """The judge's parsed answer as JSON values, of a metric with a response model of its own. None for all others."""
    evaluator: str = ""
    version: str = ""
    judge: str = ""
    answered_by: str | None = None
    """The judge with the version of the model that answered, where that differs: `jev-latest` was `jev-1.13.0`."""
    prompts: tuple[str, ...] = ()
    """The prompts that were used, as `name/language@version:hash`. Empty for judges without prompts."""
    usage: Usage | None = None
    duration_s: float = 0.0
    error_type: str | None = None
    """Qualified name of the exception. None if the evaluator did not fail."""
    error_retryable: bool = False

    def __post_init__(self) -> None:
        for label, number in (("score", self.score), ("risk", self.risk)):
            if number is not None and not (math.isfinite(number) and 0.0 <= number <= 1.0):
                raise ValueError(f"{self.name}: {label} must be within 0..1 or None, not {number!r}")

    def to_dict(self) -> dict[str, Any]:
        """All fields of the result as JSON values. Optional ones (label, prompts, usage, chunk scores, answer, error)
        are absent if they are empty."""
        values: dict[str, Any] = {"score": self.score, "risk": self.risk}
        if self.label is not None:
            values["label"] = self.label
        values |= {
            "reason_code": None if self.reason_code is None else str(self.reason_code),
            "explanation": self.explanation,
            "claims": [verdict.to_dict() for verdict in self.claims],
            "judge": self.judge,
            "version": self.version,
        }
        if self.answered_by is not None:
            values["answered_by"] = self.answered_by
        if self.prompts:
            values["prompts"] = list(self.prompts)
        if self.usage is not None and self.usage.calls:
            values["usage"] = {
                "calls": self.usage.calls,
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
                "cost_usd": self.usage.cost_usd,
            }
        if self.chunk_scores:
            values["chunk_scores"] = list(self.chunk_scores)
        if self.answer is not None:
            values["answer"] = dict(self.answer)
        if self.error_type is not None:
            values["error_type"] = self.error_type
        return values

    @property
    def judged_claims(self) -> int:
        """How many claims were judged."""
        return sum(verdict.verdict is not Verdict.UNJUDGED for verdict in self.claims)

    @property
    def supported_claims(self) -> int:
        return sum(verdict.verdict is Verdict.SUPPORTED for verdict in self.claims)


class EvaluationStatus(enum.StrEnum):
    """The outcome for a trace: the value of `rag.evaluation.status`."""

    EVALUATED = "evaluated"
    SKIPPED = "skipped"
    LATE = "late"
    """The span was exported without scores at its deadline. The result follows as annotation and evaluation span."""
    FAILED = "failed"


QUEUED: Final = "queued"
"""Reason of the status `late`: the trace is a job on a queue, and a worker writes its results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedTrace:
    """A trace, its sampling decision and its evaluations: the input of the writers and of the alerts."""

    trace: RagTrace
    decision: SamplingDecision
    evaluations: tuple[Evaluation, ...]
    status: EvaluationStatus
    project: str | None = None
    """The Phoenix project of the target span, for links."""
    origin: Any = field(default=None, compare=False, repr=False)
    """A `processing.sdk_spans.SpanOrigin`: the exporters and the resource of the target span. The evaluation span goes
    to the same exporters. None: unknown."""
