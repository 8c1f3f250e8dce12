"""A real mail server on loopback: takes mail with or without TLS and login, refuses as it is told."""

from __future__ import annotations

import datetime
import email
import email.policy
import ipaddress
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Literal

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from rag_otel.cli.demo.phoenix_server import free_port

HOST = "127.0.0.1"
USER, PASSWORD = "alerts", "s3cret-password"
Security = Literal["none", "starttls", "tls"]


@dataclass
class MailReceiver:
    """What came in, and what is answered."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    """Of each mail's envelope."""
    encrypted: list[bool] = field(default_factory=list)
    logged_in: list[bool] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """Answers to the next mails' data; then they are taken."""
    refused: dict[str, str] = field(default_factory=dict)
    """Answers to recipients that are not taken."""

    async def handle_RCPT(  # noqa: N802 - the name that the server looks for
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.answers:
            return self.answers.pop(0)
        self.mails.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
        self.recipients.append(list(envelope.rcpt_tos))
        self.encrypted.append(session.ssl is not None or server.transport.get_extra_info("sslcontext") is not None)
        self.logged_in.append(bool(session.authenticated))
        return "250 OK"


@contextmanager
def mail_receiver(
    *, security: Security = "none", login: bool = False, certificate: ssl.SSLContext | None = None
) -> Iterator[MailReceiver]:
    """Serve on a free port until the block ends; `certificate` for what is encrypted."""
    receiver = MailReceiver()
    controller = Controller(
        receiver,
        hostname=HOST,
        port=free_port(),
        ssl_context=certificate if security == "tls" else None,
        tls_context=certificate if security == "starttls" else None,
        require_starttls=security == "starttls",
        auth_required=login,
        auth_require_tls=security == "starttls",
        authenticator=_knows,
    )
    controller.start()
    receiver.port = controller.port
    try:
        yield receiver
    finally:
        controller.stop()


def a_certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's context for 127.0.0.1, and the file that makes a client trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, key_pem = folder / "mail.pem", folder / "mail.key"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key_pem)
    return context, pem


def _knows(server: Any, session: Any, envelope: Any, mechanism: str, auth_data: Any) -> AuthResult:
    wanted = LoginPassword(USER.encode(), PASSWORD.encode())
    return AuthResult(success=auth_data == wanted, handled=False)
