"""The development data as training and benchmarks see it: answers with the human verdict on each claim."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.model import Chunk, Claim
from rag_otel_evaluators.cooperative import finish
from rag_otel_evaluators.judges.embedded.assessment import AssessedClaim, assess
from rag_otel_evaluators.judges.embedded.evidence import index_chunks
from rag_otel_evaluators.text.claim_segmentation import segment

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "examples/data/ragtruth_qa_dev.jsonl"

_LEAST_OVERLAP: Final = 3
"""Letters or digits of a claim that must lie in a marked span for it to count as unsupported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswer:
    """An answer with the human verdict on it and on each of its claims."""

    source_id: str
    """The question's id."""
    unfaithful: int
    """1 where a person marked a hallucinated span."""
    claims: tuple[AssessedClaim, ...]
    unsupported: tuple[int, ...]
    """By claim, 1 where it overlaps a marked span."""


def load_answers(path: Path = DATA) -> list[LabelledAnswer]:
    """Every row of the data, assessed. Raises InputError where the file is not there."""
    if not path.is_file():
        raise InputError(f"{path} is not there: training needs the data of a source checkout")
    with path.open(encoding="utf-8") as lines:
        return [label_answer(json.loads(line)) for line in lines]


def label_answer(row: Mapping[str, Any]) -> LabelledAnswer:
    """Assess one row of the data: fields source_id, question, contexts, response, label, spans."""
    response = row["response"]
    claims = segment(response).claims
    chunks = [Chunk(id=str(number), text=text, position=number) for number, text in enumerate(row["contexts"])]
    index = finish(index_chunks(chunks, row["question"]))
    return LabelledAnswer(
        source_id=row["source_id"],
        unfaithful=int(row["label"]),
        claims=tuple(assess(index, claim, response) for claim in claims),
        unsupported=tuple(int(is_marked(response, claim, row["spans"])) for claim in claims),
    )


def is_marked(response: str, claim: Claim, spans: Sequence[Sequence[int]]) -> bool:
    """True where a person marked some of the claim."""
    overlaps = (response[max(claim.start, start) : min(claim.end, end)] for start, end in spans)
    return any(sum(character.isalnum() for character in overlap) >= _LEAST_OVERLAP for overlap in overlaps)
