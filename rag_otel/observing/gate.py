"""What may decide on what leaves an observed call, before the caller gets it: a guard (`rag_otel.guarding`)."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from rag_otel.observing.transcript import Transcript

T = TypeVar("T")


class StreamGate(Protocol):
    """Decides on the items of one stream."""

    stopped: bool
    """True: nothing more leaves, and the body is closed."""

    async def take(self, item: Any) -> Sequence[Any]:
        """What leaves after the next item, which the transcript has already."""
        ...

    async def finish(self) -> Sequence[Any]:
        """What leaves after the last item."""
        ...

    def record(self) -> str | None:
        """Leave on the call what was done; what the stream has said, where that is not all."""
        ...


class Gate(Protocol):
    """Decides on one call. For a caller that blocks (`blocking`) its coroutines wait in place."""

    async def leave(self, result: Any, *, blocking: bool) -> Any:
        """End the call, and say what leaves in place of its result."""
        ...

    def stream(self, transcript: Transcript, *, blocking: bool) -> StreamGate:
        """The gate of the call's stream."""
        ...

    def without_stream(self, result: Any, *, writable: bool) -> Any:
        """End the call, and say what leaves in place of a result whose stream cannot be replaced."""
        ...


def run_in_place(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits by blocking its thread, and never gives up control."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine awaits something that needs an event loop")
