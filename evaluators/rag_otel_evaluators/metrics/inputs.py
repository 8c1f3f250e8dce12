"""The input of one evaluation in a uniform form (`Case`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Chunk

FIELDS: Final = ("question", "chunks", "response", "reference")
"""The parameters of `Evaluator.evaluate`."""
FURTHER_FIELDS: Final = ("chunk_ids", "reference_chunks", "reference_chunk_ids")
"""Parameters of metrics that compare a retrieval with known good chunks. Only a data set has them."""


def needed_fields(evaluator: object) -> tuple[str, ...]:
    """Which of `FIELDS` and `FURTHER_FIELDS` an evaluator requires, by its attribute `needs`. Empty if it has none.

    It is checked for a whole data set, because a single row does not show whether a column is missing or a cell is
    empty.
    """
    return tuple(getattr(evaluator, "needs", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The input of one evaluation. Blank texts are None."""

    question: str | None
    chunks: tuple[str, ...]
    """Texts by position. Blank texts are kept, so that positions stay valid."""
    chunk_ids: tuple[str, ...]
    """Ids by position. For a chunk that is a string, the position as text."""
    response: str | None
    reference: str | None

    @property
    def has_context(self) -> bool:
        """True if at least one chunk has a text that is not blank."""
        return any(text.strip() for text in self.chunks)


def make_case(question: str | None, chunks: Sequence[Chunk | str], response: str | None, reference: str | None) -> Case:
    """Converts the arguments of `Evaluator.evaluate` to a `Case`."""
    known = as_chunks(chunks)
    return Case(
        question=_text(question),
        chunks=tuple(chunk.text for chunk in known),
        chunk_ids=tuple(chunk.id for chunk in known),
        response=_text(response),
        reference=_text(reference),
    )


def as_chunks(chunks: Sequence[Chunk | str]) -> list[Chunk]:
    """Returns the chunks. A string becomes a chunk whose id is its position."""
    return [
        Chunk(id=str(position), text=chunk, position=position) if isinstance(chunk, str) else chunk
        for position, chunk in enumerate(chunks)
    ]


def only_abstains(text: str) -> bool:
    """True if the text says that it does not know, and makes no claim."""
    from rag_otel_evaluators.text.claim_segmentation import segment  # compiles its patterns, so only when needed

    segments = segment(text)
    return segments.abstained and not segments.claims


def _text(value: str | None) -> str | None:
    return value if value and value.strip() else None
