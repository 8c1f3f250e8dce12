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


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The input of one evaluation."""

    question: str | None
    """None: missing or blank, as for response and reference."""
    given_chunks: tuple[Chunk, ...]
    """By position. Blank ones are kept, so that positions stay valid; one given as a string has its position as id."""
    response: str | None
    reference: str | None
    own_ids: tuple[str, ...] = ()
    """`chunk_ids` of a data set; without them the ids that the chunks were given with."""
    reference_chunks: tuple[str, ...] = ()
    reference_chunk_ids: tuple[str, ...] = ()

    @property
    def chunks(self) -> tuple[str, ...]:
        """Texts by position."""
        return tuple(chunk.text for chunk in self.given_chunks)

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """Ids by position."""
        return tuple(chunk.id for chunk in self.given_chunks)

    @property
    def has_context(self) -> bool:
        """True if at least one chunk has a text that is not blank."""
        return any(chunk.text.strip() for chunk in self.given_chunks)


def make_case(
    question: str | None,
    chunks: Sequence[Chunk | str],
    response: str | None,
    reference: str | None,
    *,
    chunk_ids: Sequence[str] | None = None,
    reference_chunks: Sequence[str] | None = None,
    reference_chunk_ids: Sequence[str] | None = None,
) -> Case:
    """Converts the arguments of `Metric.evaluate` to a `Case`."""
    if chunk_ids is None:
        chunk_ids = [chunk.id for chunk in chunks if not isinstance(chunk, str) and chunk.has_id]
    return Case(
        question=_text(question),
        given_chunks=tuple(as_chunks(chunks)),
        response=_text(response),
        reference=_text(reference),
        own_ids=tuple(chunk_ids),
        reference_chunks=tuple(reference_chunks or ()),
        reference_chunk_ids=tuple(reference_chunk_ids or ()),
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
