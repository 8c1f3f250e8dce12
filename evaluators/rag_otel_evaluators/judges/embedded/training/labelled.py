"""The development data as training and benchmarks see it: answers with the human verdict on each claim.

Beside the claims as they are stand two kinds of claims that are wrong by construction: the same ones against another
question's passages, and supported ones with one thing changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.model import Chunk, Claim
from rag_otel_evaluators.cooperative import finish
from rag_otel_evaluators.judges.embedded.assessment import AssessedClaim, assess
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex, index_chunks
from rag_otel_evaluators.judges.embedded.training.perturbation import names_in, perturb
from rag_otel_evaluators.text.claim_segmentation import segment

ROOT: Final = Path(__file__).parents[5]
DATA: Final = ROOT / "examples/data/ragtruth_qa_dev.jsonl"
PAIRS: Final = ROOT / "examples/data/contrast_train.jsonl"

_LEAST_OVERLAP: Final = 3
"""Letters or digits of a claim that must lie in a marked span for it to count as unsupported."""
_MOST_NAMES: Final = 20
"""Names that a swap may bring in from the question's own passages, and as many from another's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedClaim:
    """A claim that people did not mark, with one thing changed."""

    kind: str
    original: int
    """Index of the claim that it was."""
    claim: AssessedClaim


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
    mismatched: tuple[AssessedClaim, ...]
    """The same claims against the passages of another question."""
    perturbed: tuple[PerturbedClaim, ...]


def load_answers(path: Path = DATA) -> list[LabelledAnswer]:
    """Every row of the data, assessed. Raises InputError where the file is not there."""
    if not path.is_file():
        raise InputError(f"{path} is not there: training needs the data of a source checkout")
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    contexts = {row["source_id"]: row["contexts"] for row in rows}
    sources = list(contexts)
    another = dict(zip(sources, sources[1:] + sources[:1], strict=True))
    return [label_answer(row, contexts[another[row["source_id"]]]) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastPair:
    """Two short answers to one question that differ in one point: one faithful, one not."""

    group: str
    """What shares a context with it; the question's id where the context is a question's of the development data."""
    language: str
    phenomenon: str
    faithful: tuple[AssessedClaim, ...]
    unfaithful: tuple[AssessedClaim, ...]
    elsewhere: tuple[AssessedClaim, ...]
    """The faithful answer against the passages of another pair in its language, which do not say it."""


def load_pairs(path: Path = PAIRS) -> list[ContrastPair]:
    """Every pair of the contrast data, assessed; those without a claim on either side left out."""
    if not path.is_file():
        raise InputError(f"{path} is not there: training needs the data of a source checkout")
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    by_language: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_language.setdefault(row["language"], []).append(row)
    pairs = [_assess_pair(row, _another(row, by_language[row["language"]])) for row in rows]
    return [pair for pair in pairs if pair.faithful and pair.unfaithful]


def _another(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A row of another group, chosen by the id; the row itself where there is none."""
    others = [other for other in rows if other["group"] != row["group"]] or [row]
    return others[int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % len(others)]


def _assess_pair(row: Mapping[str, Any], other: Mapping[str, Any]) -> ContrastPair:
    index, other_index = (_index(row["question"], each["contexts"]) for each in (row, other))
    faithful, unfaithful, elsewhere = (
        tuple(assess(where, claim, row[side]) for claim in segment(row[side]).claims)
        for where, side in ((index, "faithful"), (index, "unfaithful"), (other_index, "faithful"))
    )
    return ContrastPair(
        group=row["group"].removeprefix("ragtruth-"),
        language=row["language"],
        phenomenon=row["phenomenon"],
        faithful=faithful,
        unfaithful=unfaithful,
        elsewhere=elsewhere if other is not row else (),
    )


def label_answer(row: Mapping[str, Any], other_contexts: Sequence[str]) -> LabelledAnswer:
    """Assess one row of the data: fields source_id, question, contexts, response, label, spans."""
    response = row["response"]
    claims = segment(response).claims
    index = _index(row["question"], row["contexts"])
    other_index = _index(row["question"], other_contexts)
    unsupported = tuple(int(_is_marked(response, claim, row["spans"])) for claim in claims)
    names = _names(row["contexts"]) + _names(other_contexts)
    return LabelledAnswer(
        source_id=row["source_id"],
        unfaithful=int(row["label"]),
        claims=tuple(assess(index, claim, response) for claim in claims),
        unsupported=unsupported,
        mismatched=tuple(assess(other_index, claim, response) for claim in claims),
        perturbed=tuple(
            perturbed
            for number, claim in enumerate(claims)
            if not unsupported[number]
            for perturbed in _perturbed(index, number, claim, response, names)
        ),
    )


def _index(question: str, contexts: Sequence[str]) -> EvidenceIndex:
    return finish(index_chunks([Chunk(id=str(i), text=text, position=i) for i, text in enumerate(contexts)], question))


def _is_marked(response: str, claim: Claim, spans: Sequence[Sequence[int]]) -> bool:
    overlaps = (response[max(claim.start, start) : min(claim.end, end)] for start, end in spans)
    return any(sum(character.isalnum() for character in overlap) >= _LEAST_OVERLAP for overlap in overlaps)


def _names(contexts: Sequence[str]) -> list[str]:
    return [name for text in contexts for name in names_in(text)][:_MOST_NAMES]


def _perturbed(
    index: EvidenceIndex, number: int, claim: Claim, response: str, names: Sequence[str]
) -> list[PerturbedClaim]:
    verbatim = response[claim.start : claim.end]
    stem = claim.text.removesuffix(verbatim)
    return [
        PerturbedClaim(
            kind=change.kind,
            original=number,
            claim=assess(
                index, Claim(text=stem + change.text, sentence_index=0, start=0, end=len(change.text)), change.text
            ),
        )
        for change in perturb(verbatim, names)
    ]
