"""The cache that a setting names: `memory`, `sqlite:/path/to/file`, `redis://host:6379/0`."""

from __future__ import annotations

from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.llm.cache import AnswerCache, DiskCache

_REDIS: Final = ("redis://", "rediss://", "unix://")
_SQLITE: Final = "sqlite:"


def open_cache(store: str, *, keep_s: float | None) -> AnswerCache:
    """The cache. `keep_s`: seconds for which an answer is kept; None: for ever. Raises ConfigurationError."""
    if store == "memory":
        from rag_otel_evaluators.llm.memory_cache import MemoryCache

        return MemoryCache(keep_s=keep_s)
    if store.startswith(_SQLITE):
        return DiskCache(store.removeprefix(_SQLITE), keep_s=keep_s)
    if store.startswith(_REDIS):
        from rag_otel_evaluators.llm.redis_cache import RedisCache

        return RedisCache(store, keep_s=keep_s)
    raise ConfigurationError(
        f"judge_cache must be `memory`, `sqlite:/path/to/file` or `redis://host:6379/0`, not {store!r}"
    )
