"""One-verb interfaces: what a part must offer to take its place on the straight path.

spans -> RagTrace -> SamplingDecision -> Evaluation(s) -> written back -> watched
         Convention   Sampler             Evaluator       Writer         AlertChannel
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from rag_otel.alert import Alert
from rag_otel.model import (
    Chunk,
    EvaluatedTrace,
    Evaluation,
    RagTrace,
    SamplingDecision,
    SpanRecord,
    SpanRef,
)


@runtime_checkable
class Convention(Protocol):
    """A dialect of spans: knows its own and reads RAG traces out of them."""

    @property
    def name(self) -> str: ...

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """True when a span of this scope with these attributes speaks the dialect. Called on the request path:
        no parsing, no allocation beyond a few lookups."""
        ...

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """True when a span of this scope with these attributes is a retrieval of the dialect: a retriever, or a
        reranker that decides what is left of one. As cheap as `owns`; asked of finished spans, because many
        instrumentations set their attributes last."""
        ...

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        """Every RAG trace among the spans of ONE trace id, evaluable or not; empty where there is none.

        `spans` may come in any order, may lack the root and may hold other dialects' spans. Never raises on
        odd attribute values: what cannot be read is absent, and the trace carries an `unevaluable_reason`.
        """
        ...


@runtime_checkable
class KnowsCalls(Protocol):
    """A convention that can tell the calls of a model: what stands beside a retrieval may be its answer."""

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """True when a span of this scope with these attributes called a model. As cheap as `Convention.owns`; asked of
        finished spans."""
        ...


Texts: TypeAlias = Mapping[str, str] | Sequence[str | None]
"""Texts by id, or one for each id in the order asked."""


class ChunkResolver(Protocol):
    """Fetches the texts of chunks whose ids alone are in the trace; a plain or an async function."""

    def __call__(self, ids: Sequence[str], /) -> Texts | Awaitable[Texts]:
        """The texts of these chunks; what is not found is left out, or None. Off the request path, with a deadline."""
        ...


@runtime_checkable
class Sampler(Protocol):
    """Decides, by trace, what is evaluated. Same trace id, same answer, in every process."""

    def decide(self, target: SpanRef) -> SamplingDecision: ...


@runtime_checkable
class Evaluator(Protocol):
    """Judges one answer. Knows nothing of spans."""

    @property
    def name(self) -> str:
        """The metric's name: lower-case letters, digits and underscores; never `status`."""
        ...

    @property
    def version(self) -> str: ...

    @property
    def judge_name(self) -> str:
        """Which judge decides, for the record: `embedded`, `openai/gpt-4o-mini`, ..."""
        ...

    async def evaluate(
        self,
        *,
        question: str | None,
        chunks: Sequence[Chunk | str],
        response: str,
        reference: str | None = None,
    ) -> Evaluation:
        """Score one answer. May raise `RetryableError` or `PermanentError`: the pipeline makes it a failed
        `Evaluation`. CPU-bound work gives up the GIL at least every half millisecond (`await asyncio.sleep(0)`)."""
        ...


@runtime_checkable
class Writer(Protocol):
    """Delivers results somewhere. Safe to repeat: the same result written twice is there once."""

    @property
    def name(self) -> str: ...

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Deliver the batch, blocking, on the delivery thread.

        Raises `RetryableError` (the batch is tried again later) or `PermanentError` (it is counted as lost).
        """
        ...


@runtime_checkable
class RaisesAlerts(Protocol):
    """A writer that watches: what it finds goes the way of all alerts."""

    def raise_alerts_with(self, raise_alert: Callable[[Alert], None]) -> None:
        """Called once, before the first result. `raise_alert` takes firing and resolved alerts, from any thread,
        never blocks and never raises."""
        ...


@runtime_checkable
class AlertChannel(Protocol):
    """Tells somebody. Runs on the delivery thread; the same two errors as `Writer`."""

    @property
    def name(self) -> str: ...

    def send(self, alert: Alert) -> None: ...


@runtime_checkable
class GoesOn(Protocol):
    """An alert channel that goes on after a restart with what it was told before."""

    def go_on(self, folder: Callable[[], Path], open_alerts: Collection[str]) -> None:
        """Keep what is told in `folder`, and take up what is there of `open_alerts`, which are fingerprints."""
        ...


@runtime_checkable
class Renews(Protocol):
    """An alert channel that by itself tells again what it was told, for as long as that is true."""

    def stop_renewing(self) -> None:
        """Called once nobody watches any more. What fires then ends by itself at the other side."""
        ...
