"""Texts of chunks that a trace names by id alone, fetched from the application's own store.

The official GenAI conventions put ids on a retrieval and never a text. A `ChunkResolver` is the application's code: it
runs on the worker's time, never on a request's, under suppression, within a deadline, and what goes wrong in it leaves
the trace as it was: not evaluable, `no_chunk_text`.
"""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.daemon_executor import DaemonExecutor
from rag_otel.model import Chunk, RagTrace, Source, UnevaluableReason
from rag_otel.protocols import ChunkResolver
from rag_otel.safety.guard import counters, logger

DEFAULT_TIMEOUT_S: Final = 5.0
_AT_ONCE: Final = 8
"""Calls of a plain function at once: what hangs in them cannot be stopped, only waited for no longer."""
_LOGGED: Final = 5


class ChunkTexts:
    """Completes traces by asking a resolver."""

    def __init__(self, resolver: ChunkResolver, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """`timeout_s` for one trace: the resolver is asked once, for all of its chunks."""
        self._resolver = resolver
        self._timeout_s = timeout_s
        self._threads = DaemonExecutor(_AT_ONCE)

    async def complete(self, trace: RagTrace) -> RagTrace:
        """The trace with its texts; unchanged where it misses none, or where they cannot be had. Never raises."""
        wanted = [chunk.id for chunk in trace.chunks if not chunk.text]
        lost = trace.unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT
        if not lost or not wanted or not all(chunk.has_id or chunk.text for chunk in trace.chunks):
            return trace
        try:
            async with asyncio.timeout(self._timeout_s):
                texts = _by_id(wanted, await self._ask(wanted))
        except Exception as error:  # noqa: BLE001 - the application's code may raise anything
            _report(error)
            return trace
        missing = [chunk_id for chunk_id in wanted if not texts.get(chunk_id)]
        if missing:
            counters.add("chunk_resolver.missing", len(missing))
            return trace
        return _with_texts(trace, texts)

    async def _ask(self, ids: Sequence[str]) -> object:
        if inspect.iscoroutinefunction(self._resolver):
            return await self._resolver(ids)
        context = contextvars.copy_context()  # the worker's: what the store's client calls makes no spans
        answer = await asyncio.wrap_future(self._threads.submit(context.run, self._resolver, ids))
        return await answer if inspect.isawaitable(answer) else answer


def resolver_named(name: str) -> ChunkResolver:
    """The resolver of a setting, `module:function`. Raises ConfigurationError."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ConfigurationError(f"chunk_resolver must be module:function, not {name!r}")
    try:
        found = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"chunk_resolver {name!r} cannot be found: {error}") from None
    if not callable(found):
        raise ConfigurationError(f"chunk_resolver {name!r} is not a function")
    return found


def _by_id(ids: Sequence[str], answer: object) -> Mapping[str, str]:
    """A resolver's answer by id: a mapping, or one text for each id in their order."""
    if isinstance(answer, Mapping):
        return {str(key): text for key, text in answer.items() if isinstance(text, str)}
    if isinstance(answer, Sequence) and not isinstance(answer, str) and len(answer) == len(ids):
        return {chunk_id: text for chunk_id, text in zip(ids, answer, strict=True) if isinstance(text, str)}
    raise TypeError(f"a chunk resolver returns a mapping of ids to texts, or one text for each id, not {answer!r:.100}")


def _with_texts(trace: RagTrace, texts: Mapping[str, str]) -> RagTrace:
    chunks: tuple[Chunk, ...] = tuple(
        chunk if chunk.text else dataclasses.replace(chunk, text=texts[chunk.id]) for chunk in trace.chunks
    )
    reason = UnevaluableReason.NO_QUESTION if not trace.question else None
    if reason is None and not trace.response:
        reason = UnevaluableReason.NO_RESPONSE
    where = Source(part="chunks", span=trace.target, span_name=trace.route or "", attribute="chunk_resolver")
    return dataclasses.replace(trace, chunks=chunks, unevaluable_reason=reason, sources=(*trace.sources, where))


def _report(error: Exception) -> None:
    late = isinstance(error, TimeoutError)
    total = counters.add("chunk_resolver.timeout" if late else "chunk_resolver.failed")
    if total <= _LOGGED:
        logger.warning("rag-otel: the chunk resolver failed: %s", error or type(error).__name__, exc_info=not late)
