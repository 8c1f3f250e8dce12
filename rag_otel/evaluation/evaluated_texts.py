"""The texts of the evaluation that runs, for who must treat a value alike in all its calls.

    with evaluated_texts("Who?", chunks, response, reference):
        current_texts().texts       # also in tasks that are started here

What leaves for a judge is masked: the same value needs the same placeholder in every call of one evaluation, and a
value that a prompt cuts in two is known only from the whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedTexts:
    """Question, chunks, response and reference, in this order, and what was worked out about them."""

    texts: tuple[str, ...]
    memo: dict[object, object] = field(default_factory=dict)
    """By who asks, for as long as the evaluation runs."""


_current: ContextVar[EvaluatedTexts | None] = ContextVar("rag_otel_evaluated_texts", default=None)


@contextmanager
def evaluated_texts(
    question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None
) -> Iterator[None]:
    """What happens inside evaluates these texts. Costs a tuple."""
    of_chunks = (each if isinstance(each, str) else each.text for each in chunks)
    texts = tuple(text for text in (question, *of_chunks, response, reference) if isinstance(text, str))
    token = _current.set(EvaluatedTexts(texts=texts))
    try:
        yield
    finally:
        _current.reset(token)


def current_texts() -> EvaluatedTexts | None:
    """The texts of the evaluation around the call; None outside of one."""
    return _current.get()
