"""Keeps the log lines of a provider's library out of the application's log, for our own calls alone."""

from __future__ import annotations

import contextlib
import contextvars
import logging
from collections.abc import Iterator
from typing import Final

_LOGGERS: Final = (
    *("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"),
    *("openai", "openai._base_client", "httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2"),
)
"""Those that litellm and what it calls log to. A filter sees its own logger's records only, so each is named."""
_quiet: contextvars.ContextVar[bool] = contextvars.ContextVar("rag_otel_quiet", default=False)


class _DropOurs(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not _quiet.get()


_DROP_OURS: Final = _DropOurs()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What these libraries log inside is dropped; what the application has them log elsewhere is not."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_DROP_OURS)  # once, however often: a filter is not added twice
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)
