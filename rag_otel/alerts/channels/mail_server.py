"""Where alerts are mailed through: the address of a mail server, and one message handed to it.

smtps://user@mail.example.com:465      TLS from the first byte
smtp://user@mail.example.com:587       STARTTLS, which the server must offer; a server on this machine may do without
smtp://relay.internal:25?starttls=off  plain text, where nothing else is to be had: never with a password
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.safety.guard import counters, logger
from rag_otel.safety.redaction import redacted

_PORTS: Final = {"smtp": 587, "smtps": 465}
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class MailServer:
    """A mail server, reached anew for each message: alerts are rare, idle connections break."""

    def __init__(self, url: str, *, password: str | None = None, timeout_s: float = 10.0) -> None:
        """Raises ConfigurationError that says what is wrong with the address, and no password."""
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            raise _wrong("its port is no number") from None
        if parts.scheme not in _PORTS or not parts.hostname:
            raise _wrong("it must be smtp://host:587 (STARTTLS) or smtps://host:465 (TLS)")
        if parts.password is not None:
            raise _wrong("a password does not belong into it: put that into alert_smtp_password")
        asked = parse_qs(parts.query).get("starttls", [""])[-1]
        if asked not in ("", "required", "off"):
            raise _wrong(f"starttls must be required or off, not {asked!r}")
        self._host, self._port = parts.hostname, port or _PORTS[parts.scheme]
        self._tls = parts.scheme == "smtps"
        self._starttls = not self._tls and asked != "off" and (bool(asked) or self._host not in _LOOPBACK)
        self._user = unquote(parts.username) if parts.username else None
        self._password = password
        self._timeout_s = timeout_s
        if password and not self._user:
            raise _wrong("alert_smtp_password is given, but no user: write smtp://user@host")
        if password and not self._tls and asked == "off":
            raise _wrong("a password would travel in plain text: leave starttls=off out, or use smtps://")

    def deliver(self, message: EmailMessage) -> None:
        """Send one message. Recipients that the server refuses while it accepts others are counted and logged.

        Raises RetryableError (no connection, a timeout, an answer of 4xx) or PermanentError (5xx).
        """
        with redacted(self._password):
            refused = self._hand_over(message)
        if refused:
            counters.add("alerts.mail.recipients_refused", len(refused))
            logger.warning("rag-otel: %s refused some recipients of an alert (%s)", self._where, _said(refused))

    def _hand_over(self, message: EmailMessage) -> Mapping[str, tuple[int, bytes]]:
        """The refused recipients and the reasons."""
        try:
            with self._connected() as smtp:
                if self._starttls:
                    smtp.starttls(context=ssl.create_default_context())
                if self._user and self._password:
                    smtp.login(self._user, self._password)
                return smtp.send_message(message)
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
            raise self._failed(max(codes), f"every recipient refused ({_said(error.recipients)})") from None
        except smtplib.SMTPResponseException as error:
            raise self._failed(error.smtp_code, _text(error.smtp_error)) from None
        except smtplib.SMTPNotSupportedError as error:
            raise PermanentError(f"{self._where}: {error}") from None
        except (OSError, smtplib.SMTPException) as error:
            raise RetryableError(f"no answer from {self._where}: {error}") from None

    @property
    def _where(self) -> str:
        return f"mail server {self._host}:{self._port}"

    def _connected(self) -> smtplib.SMTP:
        if not self._tls:
            return smtplib.SMTP(self._host, self._port, timeout=self._timeout_s)
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(self._host, self._port, timeout=self._timeout_s, context=context)

    def _failed(self, code: int, said: str) -> RetryableError | PermanentError:
        kind = PermanentError if code >= 500 else RetryableError
        return kind(f"SMTP {code} from {self._where}: {said}")


def _wrong(what: str) -> ConfigurationError:
    return ConfigurationError(f"alert_smtp_url (environment: RAG_OTEL_ALERT_SMTP_URL): {what}")


def _said(refused: Mapping[str, tuple[int, bytes]]) -> str:
    """The servers' answers without the addresses, which are personal data."""
    return "; ".join(sorted({f"{code} {_text(answer)}" for code, answer in refused.values()}))


def _text(answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else str(answer)
    return " ".join(text.split())[:200]
