"""Keeps credentials out of everything that is said: errors, log lines, `doctor`, start-up lines, explanations, links.

A server may quote a request's headers, a client may name a whole address, a library may print its key. `redacted_text`
masks by three means: secrets that this process knows of are masked wherever they stand; what a known word introduces
(`api_key=`, `Authorization: Bearer`) is masked whatever it is; and so is what looks like a key of a known kind. A
harmless word that is masked costs little. Every pattern takes time that grows with the length of the text alone.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote, urlsplit

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.safety.secret_forms import key_spans, said_spans

MASK: Final = "********"
_SHORTEST: Final = 4
"""A shorter one would mask half the message, and is no secret."""
_SHORTEST_OF_ENVIRONMENT: Final = 8
_LONGEST_TEXT: Final = 20_000
"""Characters of an error's text that are looked at and kept."""

_WORD: Final = (
    r"(?:authorization|api[ _-]?key(?:\ provided)?|(?:access|secret|private|account|routing|integration)[ _-]?key"
    r"|secret|token(?!s)|password|passphrase|passwd|pwd|credentials?|signature|cookie|x-[a-z]{1,20}-key|auth(?=[\"'=\\]))"
)
_QUOTED: Final = r"""\\{0,3}["']?"""
_PATTERNS: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    # user:password@ in an address
    (re.compile(r"(://)[^\s/@\"'<>]{0,500}@(?:[^\s/@\"'<>]{0,500}@)?"), rf"\1{MASK}@"),
    # a header, a setting, a field of JSON or of a query, and what it is set to
    (
        re.compile(
            rf"({_WORD}[\w-]{{0,30}}{_QUOTED}\s{{0,3}}(?:[:=]|%3[ad]|(?<=[\"']),)\s{{0,3}}[\[(]?(?:b(?=[\"']))?{_QUOTED}"
            r"(?:(?:bearer|basic|token|digest|key)\s{1,3})?)"
            r"[^\s\"'&,;<>)}\]\\]{1,4000}",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    # what follows an unknown scheme
    (
        re.compile(
            rf"(authorization{_QUOTED}\s{{0,3}}[:=]\s{{0,3}}{_QUOTED})[^\n\"'\\,;<>)}}\]]{{1,4000}}", re.IGNORECASE
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b((?:bearer|apikey)\s{1,3})[^\s\"'<>,;)\]}\\]{6,4000}", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\b(basic\s{1,3})([\w+/-]{8,4000}={0,2})", re.IGNORECASE), lambda found: _basic(found)),
    # long values of a query: what they mean is not known
    (re.compile(r"([?&][\w.%-]{1,60}=)[^\s\"'&<>#]{8,4000}"), rf"\1{MASK}"),
)

_WORDS: Final = ("auth", "key", "secret", "token", "pass", "pwd", "credential", "signature", "cookie")
_HINTS: Final = (
    ("://",),
    _WORDS,
    ("auth",),
    ("bearer", "apikey"),
    ("basic",),
    ("?", "&"),
)
"""For each pattern the words of which a text must hold one, in lower case: most texts hold none, and a search costs a
hundredth of the pattern."""

_known: frozenset[str] = frozenset()


def remember(secrets: Iterable[str | None], environ: Mapping[str, str] | None = None) -> None:
    """Mask these wherever they stand from now on, and what the environment holds under names such as `..._API_KEY`."""
    global _known
    environ = os.environ if environ is None else environ
    named = re.compile(r"KEY|SECRET|TOKEN|PASSW|CREDENTIAL|HEADERS", re.IGNORECASE)
    found = {value for name, value in environ.items() if named.search(name) and len(value) >= _SHORTEST_OF_ENVIRONMENT}
    given = {secret for secret in secrets if secret}
    parts = {part for secret in given if "://" in secret for part in secret_parts(secret)}
    _known |= given | found | {part for part in parts if len(part) >= _SHORTEST_OF_ENVIRONMENT}


def redacted_text(text: str) -> str:
    """The text without what is, or looks like, a credential; cut where it is very long."""
    if len(text) > _LONGEST_TEXT:
        text = text[:_LONGEST_TEXT] + " ..."
    text = masked(text, *_known)
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return _without(text, (*key_spans(text), *said_spans(text)))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(spans):
        if end > at:
            parts += [text[at : max(at, start)], MASK]
            at = end
    return "".join([*parts, text[at:]])


def credential_spans(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of what is, or looks like, a credential, without the word that introduces it. Spans may overlap."""
    lower = text.lower()
    for (pattern, instead), hints in zip(_PATTERNS, _HINTS, strict=True):
        if not any(hint in lower for hint in hints):
            continue
        for found in pattern.finditer(text):
            if not callable(instead) or instead(found) != found[0]:
                start = found.end(1) if pattern.groups else found.start()
                yield start, found.end() - found[0].endswith("@")
    yield from key_spans(text)
    yield from said_spans(text)


def known_secrets() -> frozenset[str]:
    """The secrets of this process (`remember`)."""
    return _known


def public_address(url: str) -> str:
    """An address as it may be shown and linked to: without user and password, and without secrets in its query."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return redacted_text(f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}") if separator else url


def _basic(found: re.Match[str]) -> str:
    # "a basic understanding" is no header: what is encoded has digits, both cases or padding.
    value = found[2]
    encoded = any(each.isdigit() or each in "=+/" for each in value) or not (value.islower() or value.istitle())
    return f"{found[1]}{MASK}" if encoded else found[0]


class RedactingFilter(logging.Filter):
    """Takes credentials out of log records: of their text, and of the error that they tell of."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            record.msg, record.args = redacted_text(record.getMessage()), None
        except Exception:  # noqa: BLE001 - a wrong format string is reported by logging itself
            return True
        if record.exc_info:
            # As text: a handler that formats the error by itself would tell what is hidden here.
            formatted = record.exc_text or logging.Formatter().formatException(record.exc_info)
            record.exc_text, record.exc_info = redacted_text(formatted), None
        return True


REDACTING: Final = RedactingFilter()
"""For every logger of ours; a filter of one logger does not apply to those below it."""


def redact_logs_of_process() -> None:
    """Take credentials out of all log records, also those of libraries: for our own programs, not for an application.

    Only records that are logged after this call, at levels that are on.
    """
    make = logging.getLogRecordFactory()
    if getattr(make, "redacts", False):
        return

    def make_redacted(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        REDACTING.filter(record)
        return record

    make_redacted.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(make_redacted)


@contextmanager
def redacted(*secrets: str | None) -> Iterator[None]:
    """Errors that leave the block hold none of `secrets`, plain or percent-encoded, nor the errors they came from."""
    try:
        yield
    except RetryableError as error:
        raise RetryableError(_said(error, secrets), retry_after_s=error.retry_after_s) from None
    except PermanentError as error:
        raise PermanentError(_said(error, secrets)) from None


def _said(error: Exception, secrets: Iterable[str | None]) -> str:
    return redacted_text(masked(str(error), *secrets))


def masked(text: str, *secrets: str | None) -> str:
    """`text` without any of `secrets`."""
    found = {form for secret in secrets if secret for form in (secret, quote(secret), quote(secret, safe=""))}
    for secret in sorted(found, key=len, reverse=True):  # the longest first: one may be part of another
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MASK)
    return text


def secret_parts(url: str) -> tuple[str, ...]:
    """What is secret in a webhook's address: user and password, path and query; host and port are not."""
    parts = urlsplit(url)
    credentials = parts.netloc.rpartition("@")[0]
    path = parts.path.strip("/")
    return tuple(part for part in (url, credentials, parts.password, path, parts.query) if part)
