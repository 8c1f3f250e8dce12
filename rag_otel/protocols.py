"""The interfaces of the pipeline's steps. Each step has one main method.

spans -> RagTrace -> SamplingDecision -> Evaluation(s) -> written back -> alerts
         Convention   Sampler             Evaluator       Writer         AlertChannel
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from rag_otel.model import (
    Chunk,
    EvaluatedTrace,
    Evaluation,
    RagTrace,
    SamplingDecision,
    SpanRecord,
    SpanRef,
)

if TYPE_CHECKING:
    from rag_otel.alert import Alert


@runtime_checkable
class Convention(Protocol):
    """The reader of one dialect, which is a naming of span attributes. It reads RAG traces from spans."""

    @property
    def name(self) -> str: ...

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """True if a span of this scope with these attributes belongs to the dialect. Called on the request path:
        it must only look up keys, without parsing."""
        ...

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """True if a span of this scope with these attributes is a retrieval of the dialect: a retriever, or a
        reranker. Must be as cheap as `owns`. Called with finished spans, because many instrumentations set attributes
        at the end."""
        ...

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        """Returns every RAG trace among the spans of ONE trace id, evaluable or not.

        `spans` may come in any order, may lack the root span and may contain spans of other dialects. Never raises
        because of unexpected attribute values: a part that cannot be read stays None or empty, and the trace has an
        `unevaluable_reason`.
        """
        ...


@runtime_checkable
class KnowsCalls(Protocol):
    """A convention that recognises model calls. A model call beside a retrieval may hold its answer."""

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """True if a span of this scope with these attributes is a model call. Must be as cheap as `Convention.owns`.
        Called with finished spans."""
        ...


Texts: TypeAlias = Mapping[str, str] | Sequence[str | None]
"""Texts by id, or one text for each requested id in the same order."""


class ChunkResolver(Protocol):
    """Fetches the texts of chunks if the trace holds only their ids. A plain or an async function."""

    def __call__(self, ids: Sequence[str], /) -> Texts | Awaitable[Texts]:
        """Returns the texts of these chunks. A text that is not found is left out, or is None. Called by the worker,
        with a deadline."""
        ...


@runtime_checkable
class Sampler(Protocol):
    """Decides which traces are evaluated. The decision for a trace id is the same in every process."""

    def decide(self, target: SpanRef) -> SamplingDecision: ...


@runtime_checkable
class SelectsTraces(Protocol):
    """A sampler that decides by what is in the trace. Its `decide` says only which traces need not be read."""

    async def select(self, trace: RagTrace) -> SamplingDecision:
        """The decision. Called on the worker, for a trace that can be evaluated."""
        ...


@runtime_checkable
class Evaluator(Protocol):
    """Scores one answer. It does not see spans.

    One of whose metric a lower score is better has an attribute `lower_is_better = True`.
    """

    @property
    def name(self) -> str:
        """The metric's name: lower-case letters, digits and underscores. `status` is reserved."""
        ...

    @property
    def version(self) -> str: ...

    @property
    def judge_name(self) -> str:
        """The name of the judge, for the results: `embedded`, `openai/gpt-4o-mini`, ..."""
        ...

    async def evaluate(
        self,
        *,
        question: str | None,
        chunks: Sequence[Chunk | str],
        response: str,
        reference: str | None = None,
    ) -> Evaluation:
        """Scores one answer. May raise `RetryableError` or `PermanentError`; the pipeline then records a failed
        `Evaluation`. CPU-bound work must yield to the event loop at least every half millisecond
        (`await asyncio.sleep(0)`), so that other threads can run."""
        ...


@runtime_checkable
class ReadsConversation(Protocol):
    """An evaluator that is also given earlier turns and memory, if the application says that they count."""

    @property
    def conversation_as(self) -> Literal["chunks", "question"]:
        """`chunks`: memory and turns follow the retrieved chunks, with ids of their own (`model.Conversation`).
        `question`: the previous question stands before the question, on a line of its own."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """An evaluator or a judge that imports modules for its first evaluation."""

    def prepare(self) -> None:
        """Imports them now. Called at start-up on a background thread. Forks and the first evaluation wait for it."""
        ...


@runtime_checkable
class Writer(Protocol):
    """Delivers results to a destination. Idempotent: writing a result twice stores it once."""

    @property
    def name(self) -> str: ...

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Delivers the batch. Runs on the delivery thread and may block.

        Raises `RetryableError` (the batch is retried later) or `PermanentError` (the batch is counted as lost).
        """
        ...


@runtime_checkable
class RaisesAlerts(Protocol):
    """A writer that monitors the results and raises alerts. They go through the same inbox as all other alerts."""

    def raise_alerts_with(self, raise_alert: Callable[[Alert], None]) -> None:
        """Sets the function that takes the writer's alerts, firing and resolved. Called once, before the first result.
        `raise_alert` may be called from any thread, never blocks and never raises."""
        ...


@runtime_checkable
class AlertChannel(Protocol):
    """Sends alerts to people or to another system. Runs on the delivery thread. Raises the same errors as `Writer`."""

    @property
    def name(self) -> str: ...

    def send(self, alert: Alert) -> None: ...


@runtime_checkable
class Renews(Protocol):
    """An alert channel that repeats a firing alert until it is resolved."""

    def stop_renewing(self) -> None:
        """Stops repeating. Called when monitoring stops. The receiver then ends firing alerts after its own timeout."""
        ...
