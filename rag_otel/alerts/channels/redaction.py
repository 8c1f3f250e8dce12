"""Keeps secrets out of error messages: a server may quote them, a client may name the whole address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import quote, urlsplit

from rag_otel.errors import PermanentError, RetryableError

MASK: Final = "********"
_SHORTEST: Final = 4
"""A shorter text is not masked: it would be found everywhere, and is no real secret."""


@contextmanager
def redacted(*secrets: str | None) -> Iterator[None]:
    """Errors raised in the block contain none of `secrets`, plain or percent-encoded, and no chained errors."""
    try:
        yield
    except RetryableError as error:
        raise RetryableError(masked(str(error), *secrets), retry_after_s=error.retry_after_s) from None
    except PermanentError as error:
        raise PermanentError(masked(str(error), *secrets)) from None


def masked(text: str, *secrets: str | None) -> str:
    """`text` without any of `secrets`."""
    found = {form for secret in secrets if secret for form in (secret, quote(secret), quote(secret, safe=""))}
    for secret in sorted(found, key=len, reverse=True):  # the longest first: one may be part of another
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MASK)
    return text


def secret_parts(url: str) -> tuple[str, ...]:
    """The secret parts of a webhook's address: user and password, path and query; host and port are not."""
    parts = urlsplit(url)
    credentials = parts.netloc.rpartition("@")[0]
    path = parts.path.strip("/")
    return tuple(part for part in (url, credentials, parts.password, path, parts.query) if part)
