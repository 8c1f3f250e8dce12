"""What all servers are given: where requests go, who may send them, and how large they may be."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from rag_otel.errors import ConfigurationError
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.receivers.intake import Intake


class ApiKeys:
    """Keys of clients, as `Authorization: Bearer KEY` or `x-api-key: KEY`; with none, everybody is let in."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [key.encode() for key in keys]

    def admit(self, authorization: str | bytes | None, api_key: str | bytes | None) -> bool:
        """True when either header holds a known key. Compared in constant time."""
        if not self._keys:
            return True
        scheme, _, token = _bytes(authorization).partition(b" ")
        given = [_bytes(api_key)]
        if scheme.lower() == b"bearer":
            given.append(token.strip())
        return any(hmac.compare_digest(key, each) for key in self._keys for each in given)


@dataclass(frozen=True, kw_only=True)
class ServerTls:
    """The certificate that clients see, and whose certificates they must show. Read when the collector starts, so that
    a wrong path is found before it listens."""

    cert_file: str
    key_file: str
    client_ca_file: str | None
    certificate: bytes
    key: bytes
    client_ca: bytes | None
    """With it, only clients whose certificate it has signed are let in."""

    @classmethod
    def read(cls, cert_file: str, key_file: str, client_ca_file: str | None) -> ServerTls:
        """Raises ConfigurationError that names the file."""
        return cls(
            cert_file=cert_file,
            key_file=key_file,
            client_ca_file=client_ca_file,
            certificate=_content(cert_file),
            key=_content(key_file),
            client_ca=_content(client_ca_file) if client_ca_file else None,
        )


@dataclass(frozen=True, kw_only=True)
class Reception:
    """The same for gRPC and for HTTP."""

    intake: Intake
    metrics: Metrics
    keys: ApiKeys
    tls: ServerTls | None = None
    max_request_bytes: int = 16 * 2**20

    def count(self, transport: str, outcome: str) -> None:
        """Count a request by what became of it."""
        self.metrics.add(names.REQUESTS, transport=transport, outcome=outcome)

    def count_closed(self, transport: str, reason: str) -> None:
        """Count a connection that was closed to make room for others."""
        self.metrics.add(names.CLOSED, transport=transport, reason=reason)


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value or b""


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None
