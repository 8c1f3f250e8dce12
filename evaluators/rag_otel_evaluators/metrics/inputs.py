"""What one evaluation is about, in one shape, whatever shape it was given in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.model import Chunk

FIELDS: Final = ("question", "chunks", "response", "reference")
"""What there is to judge, by the names that `Evaluator.evaluate` gives them."""


def needed_fields(evaluator: object) -> tuple[str, ...]:
    """Which of `FIELDS` an evaluator cannot do without, as its attribute `needs` says; none where it says nothing.

    What a data set has no column for cannot be told from what is empty in a row by looking at one row.
    """
    return tuple(getattr(evaluator, "needs", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one evaluation is about, with blank texts made absent."""

    question: str | None
    chunks: tuple[str, ...]
    """Texts by position; blank ones stay, so that positions hold."""
    chunk_ids: tuple[str, ...]
    """By position; the position as text for a chunk that is a mere string."""
    response: str | None
    reference: str | None

    @property
    def has_context(self) -> bool:
        """False where nothing, or nothing but white space, was retrieved."""
        return any(text.strip() for text in self.chunks)


def make_case(question: str | None, chunks: Sequence[Chunk | str], response: str | None, reference: str | None) -> Case:
    """The arguments of `Evaluator.evaluate` as a `Case`."""
    known = as_chunks(chunks)
    return Case(
        question=_text(question),
        chunks=tuple(chunk.text for chunk in known),
        chunk_ids=tuple(chunk.id for chunk in known),
        response=_text(response),
        reference=_text(reference),
    )


def as_chunks(chunks: Sequence[Chunk | str]) -> list[Chunk]:
    """Chunks as they are; a mere string becomes one whose id is its position."""
    return [
        Chunk(id=str(position), text=chunk, position=position) if isinstance(chunk, str) else chunk
        for position, chunk in enumerate(chunks)
    ]


def only_abstains(text: str) -> bool:
    """True where the text says that it does not know, and claims nothing beside it."""
    from rag_otel_evaluators.text.claim_segmentation import segment  # its patterns: with the first answer

    segments = segment(text)
    return segments.abstained and not segments.claims


def _text(value: str | None) -> str | None:
    return value if value and value.strip() else None
