"""API keys of clients: as `Authorization: Bearer KEY` or `x-api-key: KEY`, compared in constant time."""

from __future__ import annotations

import hmac
from collections.abc import Sequence


class ApiKeys:
    """The keys that are accepted; with none, everybody is."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [key.encode() for key in keys]

    def admit(self, authorization: str | bytes | None, api_key: str | bytes | None) -> bool:
        """True when either header holds a known key."""
        if not self._keys:
            return True
        scheme, _, token = _bytes(authorization).partition(b" ")
        given = [_bytes(api_key)]
        if scheme.lower() == b"bearer":
            given.append(token.strip())
        return any(hmac.compare_digest(key, each) for key in self._keys for each in given)


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value or b""
