"""The certificate that clients see, and whose certificates they must show."""

from __future__ import annotations

from dataclasses import dataclass

from rag_otel.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class ServerTls:
    """Read when the collector starts, so that a wrong path is found before it listens."""

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


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None
