"""Results that lie about themselves do not hold the application."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from rag_otel.observing.allowance import MAX_CHUNKS, Allowance
from rag_otel.observing.documents import to_chunks


class Endless(list[str]):
    """A list that says it is empty and goes on for ever."""

    def __iter__(self) -> Iterator[str]:
        return repeat("The tower is 330 m high.")


def test_a_list_without_end_is_cut() -> None:
    """What is beyond the limit is left out and counted, so that the answer is not judged by a part of its evidence."""
    allowance = Allowance()
    chunks = to_chunks(Endless(), allowance=allowance)
    assert chunks is not None
    assert len(chunks) == MAX_CHUNKS
    assert allowance.omitted_chunks > 0
