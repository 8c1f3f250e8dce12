"""The nouns of rag-otel: what a span, a trace, a claim and an evaluation are here.

Everything is a frozen, keyword-only dataclass of the standard library: cheap to create on the request path,
safe to hand to another thread. A failure is data (`Evaluation.error_type`), never a missing row.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

AttributeValue: TypeAlias = str | bool | int | float | Sequence[str] | Sequence[bool] | Sequence[int] | Sequence[float]


class StatusCode(enum.StrEnum):
    """How a span ended, in OpenTelemetry's three states."""

    UNSET = "unset"
    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """A finished span, whatever it was read from: the SDK, OTLP protobuf, OTLP/JSON or Phoenix."""

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
    """How many attributes the SDK's limits evicted: the oldest go first, so input.value may be among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRef:
    """Which span something belongs to."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One retrieved passage, as the retriever returned it."""

    id: str
    """The store's id; the position as text where the store gave none. Unique within a trace."""
    text: str
    position: int
    """0-based rank in the final list that the answer was written from."""
    score: float | None = None
    """The retriever's own score, on its own scale."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    has_id: bool = True
    """False where the store gave no id and the position stands in for it."""


class UnevaluableReason(enum.StrEnum):
    """Why a RAG trace cannot be evaluated."""

    NO_QUESTION = "no_question"
    NO_CHUNKS = "no_chunks"
    """No retrieval was seen at all. An empty retrieval is evaluable: claims without any evidence."""
    NO_CHUNK_TEXT = "no_chunk_text"
    """Ids without text: the dialect or its settings leave the passages out."""
    NO_RESPONSE = "no_response"
    INCOMPLETE = "incomplete"
    """A stream was abandoned or a trace was cut before it ended."""
    ERROR = "error"
    """The application failed: there is no answer to judge."""
    REDACTED = "redacted"
    """Content was hidden by a privacy switch."""
    TRUNCATED = "truncated"
    """Attribute limits dropped the text that would be judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a part of a RAG trace was read: what `rag-otel inspect --explain` tells."""

    part: str
    """`question`, `chunks` or `response`."""
    span: SpanRef
    span_name: str
    attribute: str
    """The attribute, `<prefix>.*` for flattened ones, or `events` where the text stands in the span's events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RagTrace:
    """One question, what was retrieved for it and what was answered: the unit that is sampled and evaluated."""

    target: SpanRef
    """The span that the scores belong to."""
    chunk_span: SpanRef | None = None
    """The span that holds `retrieval.documents`, for per-chunk annotations."""
    question: str | None = None
    chunks: tuple[Chunk, ...] = ()
    response: str | None = None
    reference: str | None = None
    """A known good answer, where the application has one."""
    model: str | None = None
    """Name of the model that answered."""
    response_id: str | None = None
    """The provider's id of the model's answer, where a span tells it."""
    session_id: str | None = None
    user_id: str | None = None
    service: str | None = None
    route: str | None = None
    """Name of the target span: the entry point that answered."""
    tags: Mapping[str, str] = field(default_factory=dict)
    start_ns: int = 0
    """Start of the target span, nanoseconds since the epoch."""
    duration_ns: int = 0
    convention: str = ""
    """Name of the convention that read this trace."""
    sources: tuple[Source, ...] = ()
    """Where its parts were read."""
    capture_content: bool = True
    """False: the observed call asked that no text of it is written back; scores, counts and chunk ids still are."""
    unevaluable_reason: UnevaluableReason | None = None
    """None: can be evaluated."""

    @property
    def evaluable(self) -> bool:
        """True when question, chunks and response are there to be judged."""
        return self.unevaluable_reason is None


class SamplingReason(enum.StrEnum):
    """Why a trace was, or was not, picked for evaluation."""

    ALWAYS = "always"
    RATIO = "ratio"
    """The seeded coin said yes."""
    NOT_SAMPLED = "not_sampled"
    """The seeded coin said no."""
    RATE_LIMITED = "rate_limited"
    """The cap of evaluations per minute was reached."""
    QUEUE_FULL = "queue_full"
    """Every holding slot was taken; admitted work is never evicted."""
    UNEVALUABLE = "unevaluable"
    """See the trace's own reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingDecision:
    """Whether a trace is evaluated, why, and with which probability it would be."""

    sampled: bool
    reason: str
    """A `SamplingReason`, or `unevaluable:<reason>`."""
    probability: float
    """Inclusion probability in (0, 1] of the sampler's coin; weighs the score in unbiased series."""
    evaluators: tuple[str, ...] | None = None
    """Names of the evaluators to run; None is all of them."""


class Verdict(enum.StrEnum):
    """What the chunks say of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_ENOUGH_INFO = "not_enough_info"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of the response that can be checked, with its place in it."""

    text: str
    """What is judged: the verbatim slice, with a list's stem before it where one was prefixed."""
    sentence_index: int
    """0-based index of the sentence that the claim comes from."""
    start: int
    """Offset of the verbatim slice in the response, in characters."""
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Evidence copied out of a chunk: `text == chunk.text[start:end]`, always."""

    chunk_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """claim -> verdict -> supporting chunk ids -> verbatim quotes -> reason."""

    claim: Claim
    verdict: Verdict
    chunk_ids: tuple[str, ...] = ()
    """Chunks that support (or contradict) the claim, best first; empty where nothing is near."""
    quotes: tuple[Quote, ...] = ()
    """Nearest evidence, best first; also given for unsupported claims, as what came closest."""
    explanation: str | None = None
    confidence: float | None = None
    """Probability in 0..1 that the claim is supported; None where the judge gives none."""
    judge: str | None = None
    """Who decided this claim, where an answer's claims are shared out among judges; None: the evaluation's judge."""


class ReasonCode(enum.StrEnum):
    """Why an evaluation has no score, or has one that needs a caveat (`no_context`)."""

    NO_CLAIMS = "no_claims"
    ABSTAINED = "abstained"
    NO_CONTEXT = "no_context"
    PARSE_ERROR = "parse_error"
    TIMEOUT = "timeout"
    JUDGE_ERROR = "judge_error"
    BUDGET = "budget"
    """What judging may cost was spent before this row of a file."""
    NO_QUESTION = "no_question"
    """The metric compares with the question, and there is none."""
    NO_RESPONSE = "no_response"
    NO_REFERENCE = "no_reference"
    """The metric compares with a known good answer, and there is none."""
    INCOMPLETE = "incomplete"
    """The judge left out what the formula cannot do without, also when asked again."""
    EMBEDDING_ERROR = "embedding_error"
    """The embedder returned vectors that cannot be compared."""
    TOO_LONG = "too_long"
    """The answer, or what was retrieved for it, is so long that only a part of it was judged."""
    NOT_SCORED = "not_scored"
    """A metric of one's own returned no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an evaluation cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None where the price is unknown; 0 for judges that cost nothing."""
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The result of one evaluator on one trace. A failure is one too: no score, an error type, a reason code."""

    name: str
    """The metric: `faithfulness`, ..."""
    score: float | None = None
    """0..1, higher is better; None where it cannot be told, with a `reason_code`."""
    risk: float | None = None
    """Calibrated probability in 0..1 that the answer holds at least one unsupported claim."""
    label: str | None = None
    explanation: str | None = None
    reason_code: str | None = None
    """A `ReasonCode`, or an evaluator's own."""
    claims: tuple[ClaimVerdict, ...] = ()
    chunk_scores: tuple[float | None, ...] = ()
    """One per chunk of the trace, by position; empty for metrics that score no chunks."""
    evaluator: str = ""
    version: str = ""
    judge: str = ""
    prompts: tuple[str, ...] = ()
    """Which prompts were asked, as `name/language@version:hash`; empty for judges that are not asked in words."""
    usage: Usage | None = None
    duration_s: float = 0.0
    error_type: str | None = None
    """Qualified name of the exception, None for a result."""
    error_retryable: bool = False

    def __post_init__(self) -> None:
        for label, number in (("score", self.score), ("risk", self.risk)):
            if number is not None and not (math.isfinite(number) and 0.0 <= number <= 1.0):
                raise ValueError(f"{self.name}: {label} must be within 0..1 or None, not {number!r}")

    @property
    def judged_claims(self) -> int:
        """How many claims got a verdict."""
        return sum(verdict.verdict is not Verdict.UNJUDGED for verdict in self.claims)

    @property
    def supported_claims(self) -> int:
        return sum(verdict.verdict is Verdict.SUPPORTED for verdict in self.claims)


class EvaluationStatus(enum.StrEnum):
    """What became of a trace: the value of `rag.evaluation.status`."""

    EVALUATED = "evaluated"
    SKIPPED = "skipped"
    LATE = "late"
    """The span left unscored at its deadline; the result follows as annotation and evaluation span."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedTrace:
    """What the writers and the alerts get: a trace, why it was picked, and its evaluations."""

    trace: RagTrace
    decision: SamplingDecision
    evaluations: tuple[Evaluation, ...]
    status: EvaluationStatus
    project: str | None = None
    """The Phoenix project that the span was exported to, for links."""
    origin: Any = field(default=None, compare=False, repr=False)
    """In process, the target's `processing.sdk_spans.SpanOrigin`: a late evaluation span follows it."""
