"""The application's replacement of an answer: within its deadline, and nothing it raises gets out."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from rag_otel.guarding.replacement import Failed, replacement_of
from rag_otel.guarding.rules import Finding, Guard, GuardVerdict
from rag_otel.observing.streams import run_in_place

VERDICT = GuardVerdict(finding=Finding.UNSUPPORTED)
PATIENT_S = 60.0
TENANT = contextvars.ContextVar("tenant", default="none")


async def asked(replacement: object, deadline: float = PATIENT_S) -> Any:
    """What an async caller gets."""
    guard = Guard(action="replace", replacement=replacement, deadline=deadline)  # type: ignore[arg-type]
    return await replacement_of(guard, VERDICT, blocking=False)


def asked_sync(replacement: object, deadline: float = PATIENT_S) -> Any:
    """What a caller gets that blocks."""
    guard = Guard(action="replace", replacement=replacement, deadline=deadline)  # type: ignore[arg-type]
    return run_in_place(replacement_of(guard, VERDICT, blocking=True))


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """What holds a replacement up until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def test_a_plain_function_is_waited_for_no_longer_than_the_deadline(held: threading.Event) -> None:
    """The answer goes on while the function still runs."""
    assert isinstance(asked_sync(lambda verdict: held.wait() and "late", deadline=0.05), Failed)
    assert not held.is_set()


async def test_nor_on_a_loop_which_goes_on_meanwhile(held: threading.Event) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    assert isinstance(await asked(lambda verdict: held.wait() and "late", deadline=0.05), Failed)
    ticking.cancel()
    assert ticks > 1
    assert not held.is_set()


async def test_an_async_function_has_the_same_deadline() -> None:
    async def never(verdict: GuardVerdict) -> str:
        await asyncio.Event().wait()
        return "late"

    assert isinstance(await asked(never, deadline=0.05), Failed)


@pytest.mark.parametrize("error", [RuntimeError("no template"), SystemExit(3), KeyboardInterrupt()])
async def test_what_it_raises_does_not_reach_the_application(error: BaseException) -> None:
    """Also what would end the process."""

    def failing(verdict: GuardVerdict) -> str:
        raise error

    assert isinstance(asked_sync(failing), Failed)
    assert isinstance(await asked(failing), Failed)


async def test_sys_exit_in_an_async_function_does_not_end_the_loop() -> None:
    async def leaving(verdict: GuardVerdict) -> str:
        raise SystemExit(3)

    assert isinstance(await asked(leaving), Failed)


async def test_what_it_gives_leaves() -> None:
    """A text, or what a function gives, with the caller's context variables."""
    TENANT.set("acme")
    assert asked_sync("Ask a person.") == "Ask a person."
    assert asked_sync(lambda verdict: TENANT.get()) == "acme"
    assert await asked(lambda verdict: {"text": TENANT.get()}) == {"text": "acme"}


def test_functions_that_hang_do_not_pile_up(held: threading.Event) -> None:
    """Beyond a bound no further one is begun, and the default applies."""
    begun: list[int] = []

    def hanging(verdict: GuardVerdict) -> str:
        begun.append(1)
        held.wait()
        return "late"

    for _ in range(40):
        assert isinstance(asked_sync(hanging, deadline=0.001), Failed)
    assert len(begun) <= 32
