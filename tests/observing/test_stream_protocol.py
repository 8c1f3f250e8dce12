"""An observed generator behaves exactly like the plain one for every sequence of operations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.context import get_current

from rag_otel import observe
from testkit.size import examples
from tests.observing.conftest import Recorder

# What the body does when it is resumed normally, by an exception, and by being closed.
BODIES = st.lists(
    st.tuples(
        st.sampled_from(["yield", "return", "raise"]),
        st.sampled_from(["yield", "return", "raise", "pass on"]),
        st.sampled_from(["return", "raise", "pass on"]),
    ),
    max_size=4,
)
OPERATIONS = st.lists(st.sampled_from(["next", "send", "throw", "close"]), min_size=1, max_size=6)


def _act(action: str, error: BaseException | None) -> bool:
    """Returns True to continue yielding, False to return."""
    if action == "raise":
        raise ValueError("by the body")
    if action == "pass on" and error is not None:
        raise error
    return action == "yield"


def _body(steps: list[tuple[str, str, str]]) -> Generator[Any, Any, Any]:
    sent = yield "first"
    for resumed, thrown, closed in steps:
        try:
            sent = yield ("got", sent)
        except GeneratorExit as error:
            if not _act(closed, error):
                return "closed"
        except KeyError as error:
            if not _act(thrown, error):
                return "thrown"
        else:
            if not _act(resumed, None):
                return "returned"
    return "done"


async def _async_body(steps: list[tuple[str, str, str]]) -> AsyncGenerator[Any, Any]:
    sent = yield "first"
    for resumed, thrown, closed in steps:
        await asyncio.sleep(0)
        try:
            sent = yield ("got", sent)
        except GeneratorExit as error:
            if not _act(closed, error):
                return
        except KeyError as error:
            if not _act(thrown, error):
                return
        else:
            if not _act(resumed, None):
                return


def _outcome(operation: Callable[[], Any]) -> tuple[str, str]:
    try:
        return "value", repr(operation())
    except BaseException as error:  # noqa: BLE001 - the outcome is compared
        return type(error).__name__, repr(error.args)


def _drive(stream: Generator[Any, Any, Any], operations: list[str]) -> list[tuple[str, str]]:
    actions: dict[str, Callable[[], Any]] = {
        "next": lambda: next(stream),
        "send": lambda: stream.send("sent"),
        "throw": lambda: stream.throw(KeyError("thrown")),
        "close": lambda: stream.close(),
    }
    outcomes = [_outcome(actions[operation]) for operation in operations]
    return [*outcomes, _outcome(stream.close)]


async def _async_drive(stream: AsyncGenerator[Any, Any], operations: list[str]) -> list[tuple[str, str]]:
    actions: dict[str, Callable[[], Any]] = {
        "next": lambda: anext(stream),
        "send": lambda: stream.asend("sent"),
        "throw": lambda: stream.athrow(KeyError("thrown")),
        "close": lambda: stream.aclose(),
    }

    async def outcome(operation: str) -> tuple[str, str]:
        try:
            return "value", repr(await actions[operation]())
        except BaseException as error:  # noqa: BLE001 - the outcome is compared
            return type(error).__name__, repr(error.args)

    return [await outcome(operation) for operation in [*operations, "close"]]


@pytest.mark.parametrize("is_async", [False, True])
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=BODIES, operations=OPERATIONS)
def test_every_sequence_of_operations_ends_alike(
    recorder: Recorder, is_async: bool, steps: list[tuple[str, str, str]], operations: list[str]
) -> None:
    """The same values and exceptions, at most one span, which has ended, and no change of the context."""
    recorder.clear()
    before = get_current()
    if is_async:
        plain = asyncio.run(_async_drive(_async_body(steps), operations))
        observed = asyncio.run(_async_drive(observe(_async_body)(steps), operations))
    else:
        plain = _drive(_body(steps), operations)
        observed = _drive(observe(_body)(steps), operations)
    assert observed == plain
    assert get_current() == before
    started = ("value", "'first'") in observed
    assert len(recorder.spans) == (1 if started else 0)
