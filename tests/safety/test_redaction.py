"""Planted secrets: none is found in anything that is said, whatever carries it."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import random
import string
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from rag_otel.delivery.http import post
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.safety import redaction
from rag_otel.safety.guard import logger, report_internal_error
from rag_otel.safety.redaction import MASK, public_address, redacted_text
from rag_otel.settings import resolve
from rag_otel.writers.phoenix_links import trace_link
from testkit.http_receiver import http_receiver

COUNT = 10_000
LETTERS = string.ascii_letters + string.digits

Make = Callable[[random.Random], str]


def _letters(dice: random.Random, least: int = 12, most: int = 48, alphabet: str = LETTERS) -> str:
    return "".join(dice.choices(alphabet, k=dice.randint(least, most)))


KEYS: dict[str, Make] = {
    "openai": lambda dice: (
        f"sk-{dice.choice(('', 'proj-', 'ant-api03-', 'live-'))}{_letters(dice, alphabet=LETTERS + '_-')}"
    ),
    "aws": lambda dice: "AKIA" + _letters(dice, 16, 16, string.ascii_uppercase + string.digits),
    "google": lambda dice: "AIza" + _letters(dice, 35, 35),
    "github": lambda dice: f"gh{dice.choice('pousr')}_{_letters(dice, 36, 36)}",
    "slack": lambda dice: f"xoxb-{_letters(dice, 10, 12, string.digits)}-{_letters(dice)}",
    "hub": lambda dice: "hf_" + _letters(dice, 34, 34),
    "jwt": lambda dice: ".".join(("eyJ" + _letters(dice), _letters(dice), _letters(dice))),
}
"""Keys that are known by their looks: they may stand anywhere."""
VALUES: dict[str, Make] = KEYS | {
    "random": _letters,
    "hex": lambda dice: _letters(dice, 32, 64, "0123456789abcdef"),
    "password": lambda dice: _letters(dice, 8, 20, LETTERS + "!$%*+-._~"),
}
"""What is known as a secret by the words before it."""

BARE: tuple[Callable[[str], str], ...] = (
    lambda s: f"Incorrect API key provided: {s}. You can find your key in the settings.",
    lambda s: f"cannot use {s} here",
    lambda s: f"({s})",
    lambda s: f'["{s}"]',
    lambda s: f"https://host.example/v1/{s}/models",
)
NAMED: tuple[Callable[[str], str], ...] = (
    lambda s: f"401 from server; you sent Authorization: Bearer {s}",
    lambda s: str({"Authorization": f"Bearer {s}", "Accept": "*/*"}),
    lambda s: json.dumps({"error": {"headers": {"x-api-key": s, "a": 1}}}),
    lambda s: json.dumps(json.dumps({"api_key": s})),
    lambda s: f"headers={[(b'authorization', ('Bearer ' + s).encode())]}",
    lambda s: f"GET https://api.example/v1/models?api_key={s}&page=2 failed",
    lambda s: f"GET https://api.example/x?page=2&{'t'}={s} failed",
    lambda s: f"connect to https://user:{s}@host.example:6006/v1 refused",
    lambda s: f"postgresql://admin:{quote(s, safe='')}@db/prod",
    lambda s: f"api-key = {s}, model = m",
    lambda s: f"OPENAI_API_KEY={s}",
    lambda s: f"client_secret: '{s}'",
    lambda s: f"password={s} host=db",
    lambda s: f"redirect to /cb%3Ftoken%3D{s}",
    lambda s: f"Proxy-Authorization: Basic {base64.b64encode(f'user:{s}'.encode()).decode()}",
    lambda s: f"Cookie: {s}",
    lambda s: f"bearer {s}",
)


def planted(dice: random.Random) -> tuple[str, tuple[str, ...]]:
    """A text, and what must not be found in what is said of it."""
    bare = dice.random() < 0.3
    secret = dice.choice(list((KEYS if bare else VALUES).values()))(dice)
    text = dice.choice(BARE if bare else NAMED)(secret)
    noise = "".join(dice.choices(string.printable, k=dice.randint(0, 30)))
    forms = (secret, quote(secret, safe=""), base64.b64encode(f"user:{secret}".encode()).decode())
    return f"{noise} {text} {noise[::-1]}", forms


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, tuple[str, ...]]]:
    dice = random.Random(11)
    return [planted(dice) for _ in range(COUNT)]


def test_no_planted_secret_is_found(texts: list[tuple[str, tuple[str, ...]]]) -> None:
    found = [text for text, forms in texts if any(form in redacted_text(text) for form in forms)]
    assert (len(found), found[:5]) == (0, [])


class Failing:
    """An evaluator whose judge's error quotes what it was sent."""

    name, version, judge_name = "failing", "1", "function"

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def evaluate(self, **_: Any) -> Any:
        raise self.error


@pytest.mark.parametrize("kind", [RuntimeError, RetryableError, PermanentError])
def test_explanations_and_logs_of_failures_hold_none(
    kind: type[Exception], texts: list[tuple[str, tuple[str, ...]]], caplog: pytest.LogCaptureFixture
) -> None:
    """What is written on the span, and all that is logged meanwhile."""
    for text, forms in texts[:1000]:
        failed = asyncio.run(evaluate(Failing(kind(text)), question=None, chunks=(), response="r", timeout_s=5))
        assert not any(form in repr(failed) for form in forms), text
    assert not [form for _, forms in texts[:1000] for form in forms if form in caplog.text]


def test_log_lines_and_tracebacks_hold_none(
    texts: list[tuple[str, tuple[str, ...]]], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAG_OTEL_RAISE_INTERNAL_ERRORS")
    for n, (text, forms) in enumerate(texts[:1000]):
        caplog.clear()
        try:
            raise ValueError(text) from KeyError(text)
        except ValueError as error:
            report_internal_error(f"place {n}", error)
        logger.warning("rag-otel: %s", text)
        assert len(caplog.records) == 2
        assert not any(form in caplog.text or form in repr(vars(each)) for form in forms for each in caplog.records)


def test_an_echoing_server_is_not_quoted() -> None:
    """A refusal that repeats headers and address."""
    with http_receiver() as server:
        server.echo = True
        server.answers = [(401, {}), (503, {})]
        for _ in range(2):
            with pytest.raises((PermanentError, RetryableError)) as refused:
                post(f"{server.url}/x?key=abcdefgh1234", b'{"Authorization": "Bearer sk-abcdefgh12345678"}')
            assert "abcdefgh" not in str(refused.value)


def test_settings_are_shown_and_refused_without_credentials() -> None:
    """The rows that doctor and the collector print at their start, and the message of a wrong address."""
    rows = resolve({"phoenix_endpoint": "http://user:PHXPASS99@host:6006/?token=QUERYTOKEN1"}, {}).rows()
    assert not any("PHXPASS99" in value or "QUERYTOKEN1" in value for _, value, _ in rows)
    with pytest.raises(ConfigurationError) as refused:
        resolve({"phoenix_endpoint": "ftp://user:PHXPASS99@host"}, {})
    assert "PHXPASS99" not in str(refused.value)


def test_links_carry_no_credentials() -> None:
    link = trace_link("https://user:PHXPASS99@phoenix.example/base/", "a" * 32)
    assert link == f"https://phoenix.example/base/redirects/traces/{'a' * 32}"
    assert public_address("http://localhost:6006") == "http://localhost:6006"


def test_what_the_process_knows_is_masked_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets of the settings, and of variables named like keys: no word before them is needed."""
    monkeypatch.setattr(redaction, "_known", frozenset())
    redaction.remember(["correct horse"], {"MY_SERVICE_TOKEN": "battery-staple", "HOME": "/home/somebody"})
    said = redacted_text("correct horse and battery-staple in /home/somebody, correct%20horse")
    assert said == f"{MASK} and {MASK} in /home/somebody, {MASK}"


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 503 from localhost:6006; trying again",
        "no answer in time; is the judge reachable?",
        "trace 8ecf10415dd4375ecebb322db1215a41 was not evaluated",
        "a basic understanding of tokens: 120 of 128",
        "metric faithfulness cannot be evaluated: TypeError",
        "http://localhost:6006/redirects/traces/8ecf10415dd4375ecebb322db1215a41",
        "the author: Jane; page?id=12&n=3",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert redacted_text(text) == text


@pytest.mark.parametrize(
    "piece", ["://", "key=", "a", "sk-", "?a=", "authorization: ", "bearer ", "eyJ.", "\\", "@", "basic "]
)
def test_the_time_grows_with_the_length(piece: str) -> None:
    """Twice the text takes no more than four times as long, also for texts made to be slow."""

    def seconds(count: int) -> float:
        text = (piece * count)[:count]
        took = []
        for _ in range(3):
            started = time.thread_time()
            for pattern, instead in redaction._PATTERNS:
                pattern.sub(instead, text)
            took.append(time.thread_time() - started)
        return min(took)

    assert seconds(20_000) < 0.5
    assert seconds(20_000) <= 4 * seconds(10_000) + 0.01


def test_the_filter_leaves_a_wrong_format_to_logging() -> None:
    record = logging.LogRecord("rag_otel", logging.WARNING, "file", 1, "%d", ("no number",), None)
    assert redaction.REDACTING.filter(record)
