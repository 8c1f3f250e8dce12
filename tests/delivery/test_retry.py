"""One retry policy for everything that calls out: the waits, their bounds, and Retry-After in both its forms."""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from rag_otel.delivery.http import post
from rag_otel.delivery.retry import Backoff, RetryPolicy, call_with_retries, read_retry_after
from rag_otel.errors import PermanentError, RetryableError
from rag_otel_collectors.otlp.exporters.connection import BackendSettings, Connection, Rejected
from rag_otel_collectors.otlp.exporters.http_backend import HttpConnection
from rag_otel_collectors.otlp.exporters.outbox import Outbox
from rag_otel_collectors.otlp.exporters.sender import Sender
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_evaluators.llm.failures import CallError
from rag_otel_evaluators.llm.modes import ModeLadder
from rag_otel_evaluators.llm.openai_http import OpenAiTransport
from rag_otel_evaluators.llm.structured import Message
from rag_otel_evaluators.llm.transport import ChatRequest
from testkit.http_receiver import http_receiver
from tests.support.virtual_time import virtual_loop

FAILURES = st.integers(1, 10_000)
ASKED = st.none() | st.floats(0, 1e9)


@given(FAILURES, ASKED)
def test_every_pause_is_within_its_bounds(failures: int, retry_after_s: float | None) -> None:
    """At least half of the exponential bound, and never before Retry-After; never much longer than either."""
    backoff = Backoff(base_s=0.5, longest_wait_s=30, longest_asked_s=600)
    bound = min(30.0, 0.5 * 2.0 ** min(failures - 1, 32))
    asked = min(retry_after_s or 0.0, 600.0)
    pause_s = backoff.pause_s(failures, retry_after_s)
    assert max(bound / 2, asked) <= pause_s <= max(bound, asked * 1.25)


@given(st.integers(1, 60), ASKED, st.floats(0, 200))
def test_a_wait_is_granted_within_attempts_and_deadline(
    failures: int, retry_after_s: float | None, spent_s: float
) -> None:
    """What does not fit is not begun."""
    policy = RetryPolicy()
    wait_s = policy.wait_s(failures, retry_after_s, spent_s)
    if wait_s is not None:
        assert failures < 5
        assert spent_s + wait_s < policy.deadline_s
        assert (retry_after_s or 0) <= wait_s <= policy.longest_wait_s * 1.25


@pytest.mark.parametrize("retry_after_s", [None, 10.0])
def test_waits_differ_from_caller_to_caller(retry_after_s: float | None) -> None:
    """Callers that failed together do not come back together, also where they were told the same."""
    assert len({Backoff().pause_s(6, retry_after_s) for _ in range(20)}) > 1


def test_no_limit_of_attempts_leaves_the_deadline() -> None:
    """A patient caller counts seconds, not calls."""
    policy = RetryPolicy(attempts=None, deadline_s=300)
    assert policy.wait_s(1_000, None, 0) is not None
    assert policy.wait_s(1_000, None, 299) is None


def test_a_server_that_asks_for_too_long_is_not_called_again() -> None:
    """A daily quota's Retry-After ends the attempts at once."""
    assert RetryPolicy(longest_asked_s=30).wait_s(1, 3_600, 0) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu Jan  1 00:01:40 1970", 90.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("²", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(
    value: str | None, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both forms of RFC 9110, a date in UTC wherever the machine stands; nonsense counts as not given."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert read_retry_after(value, now=10.0) == seconds
    finally:
        monkeypatch.undo()
        time.tzset()


class _Answer(BaseModel):
    text: str


async def _by_writer(url: str) -> float | None:
    """Phoenix annotations, alerts and everything else that posts JSON."""
    with pytest.raises(RetryableError) as caught:
        await asyncio.to_thread(post, url, b"{}")
    return caught.value.retry_after_s


async def _by_forwarding(url: str) -> float | None:
    """The collector's connection to a backend."""
    connection = HttpConnection(BackendSettings(endpoint=url))
    try:
        with pytest.raises(RetryableError) as caught:
            await connection.send(b"")
    finally:
        await connection.close()
    return caught.value.retry_after_s


async def _by_judge(url: str) -> float | None:
    """A judge that is called over HTTP."""
    transport = OpenAiTransport(
        name="judge",
        identity={},
        model="judge",
        address=url,
        headers={},
        parameters=lambda *_: {},
        price=lambda *_: None,
        ladder=ModeLadder(known_to_support_schema=True),
    )
    request = ChatRequest(messages=(Message(role="user", content="?"),), response_model=_Answer)
    with pytest.raises(CallError) as caught:
        await transport.send(request, timeout_s=10)
    return caught.value.retry_after_s


@pytest.mark.parametrize("read", [_by_writer, _by_forwarding, _by_judge])
async def test_every_client_reads_the_header_alike(read: Callable[[str], Awaitable[float | None]]) -> None:
    """Seconds, a fraction of one, a date, nonsense, and a digit that is no number: the same for all that call out."""
    in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)
    found = []
    with http_receiver() as receiver:
        for header in ("7", "1.5", in_a_minute, "soon", "²"):
            receiver.answers.append((503, {"Retry-After": header}))
            found.append(await read(receiver.url))
    assert found == [7.0, 1.5, pytest.approx(60, abs=30), None, None]


class _Busy(Connection):
    """A backend that asks to wait, once. Remembers when it was called, in the loop's seconds."""

    def __init__(self, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        self.calls: list[float] = []
        self.taken = asyncio.Event()

    async def send(self, request: bytes) -> Rejected:
        self.calls.append(asyncio.get_running_loop().time())
        if len(self.calls) == 1:
            raise RetryableError("busy", retry_after_s=self.retry_after_s)
        self.taken.set()
        return Rejected()

    async def close(self) -> None: ...


def test_the_collector_waits_as_long_as_a_backend_asks(tmp_path: Path) -> None:
    """Also for longer than its own backoff would ever be, and with a little on top that differs between replicas."""

    async def deliver() -> list[float]:
        busy = _Busy(retry_after_s=120)
        outbox = Outbox(tmp_path, ["default"], segment_bytes=2**20)
        outbox.append(b"\x0a\x00")
        sender = Sender(BackendSettings(endpoint=""), busy, outbox.readers["default"], Metrics())
        running = asyncio.create_task(sender.run())
        await busy.taken.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return busy.calls

    with virtual_loop() as loop:
        first, second = loop.run_until_complete(deliver())
    assert 120 <= second - first <= 150


def test_a_patient_call_goes_on_with_its_own_backoff_after_a_wait_that_was_asked_for() -> None:
    """One Retry-After says nothing about the next failure."""
    now, waits = [0.0], []
    failures = [RetryableError("busy", retry_after_s=40), RetryableError("away"), RetryableError("away")]

    def call() -> str:
        if failures:
            raise failures.pop(0)
        return "there"

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    policy = RetryPolicy(attempts=None, longest_wait_s=15, deadline_s=300, longest_asked_s=300)
    assert call_with_retries(call, policy, clock=lambda: now[0], sleep=sleep) == "there"
    assert 40 <= waits[0] <= 50
    assert 0.5 <= waits[1] <= 1
    assert 1 <= waits[2] <= 2


def test_patience_ends_with_the_deadline() -> None:
    """The last failure is raised; what trying again does not help is raised at once."""
    now, calls = [0.0], []

    def call(error: Exception) -> None:
        calls.append(now[0])
        raise error

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with pytest.raises(RetryableError, match="away"):
        call_with_retries(
            lambda: call(RetryableError("away")),
            RetryPolicy(attempts=None, deadline_s=60),
            clock=lambda: now[0],
            sleep=sleep,
        )
    assert calls[-1] < 60
    tried = len(calls)
    with pytest.raises(PermanentError):
        call_with_retries(lambda: call(PermanentError("no")), RetryPolicy(), clock=lambda: now[0], sleep=sleep)
    assert len(calls) == tried + 1
