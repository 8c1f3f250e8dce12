"""What metrics have in common: their input, and the base class that checks it, makes data of failures and names who
scored."""

from __future__ import annotations

import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Final

from rag_otel.errors import RagOtelError
from rag_otel.evaluation.evaluate import failed_evaluation
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Chunk, Evaluation, ReasonCode
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.sync import run_sync

FIELDS: Final = ("question", "chunks", "response", "reference")
"""The parameters of `Evaluator.evaluate`."""
FURTHER_FIELDS: Final = ("chunk_ids", "reference_chunks", "reference_chunk_ids")
"""Parameters of metrics that compare a retrieval with known good chunks. Only a data set has them."""
_MISSING: Final[Mapping[str, str]] = {
    "question": ReasonCode.NO_QUESTION,
    "response": ReasonCode.NO_RESPONSE,
    "reference": ReasonCode.NO_REFERENCE,
}
_NAMED_PROBLEMS: Final = 3
"""How many problems with a judge's answer an explanation lists."""


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


class Metric(ABC):
    """An `Evaluator` that scores one `Case`. A subclass implements `_score` and says `version` and `judge_name`."""

    caught: ClassVar[tuple[type[Exception], ...]] = (RagOtelError,)
    """Errors of `_score` that become failed evaluations. Others are raised."""

    def __init__(self, name: str) -> None:
        """Raises ValueError for an invalid name of a metric."""
        self._name = check_metric_name(name)

    @property
    def name(self) -> str:
        return self._name

    @property
    @abstractmethod
    def version(self) -> str: ...

    @property
    @abstractmethod
    def judge_name(self) -> str: ...

    @property
    def _evaluator(self) -> str:
        """Who scored, for the result."""
        return type(self).__qualname__

    async def evaluate(
        self,
        *,
        question: str | None = None,
        chunks: Sequence[Chunk | str],
        response: str = "",
        reference: str | None = None,
        chunk_ids: Sequence[str] | None = None,
        reference_chunks: Sequence[str] | None = None,
        reference_chunk_ids: Sequence[str] | None = None,
    ) -> Evaluation:
        """Scores one answer. If a required field is missing, the result has a `reason_code` and no call is made.

        The last three are read by metrics that compare a retrieval with known good chunks. `chunk_ids`: None stands for
        the ids that the chunks have.
        """
        started = time.perf_counter()
        case = make_case(
            question,
            chunks,
            response,
            reference,
            chunk_ids=chunk_ids,
            reference_chunks=reference_chunks,
            reference_chunk_ids=reference_chunk_ids,
        )
        try:
            result = await self._score(case)
        except self.caught as error:
            result = failed_evaluation(self.name, error)
        return dataclasses.replace(
            result,
            name=self.name,
            evaluator=self._evaluator,
            version=self.version,
            judge=result.judge or self.judge_name,
            duration_s=time.perf_counter() - started,
        )

    def evaluate_sync(
        self,
        *,
        question: str | None = None,
        chunks: Sequence[Chunk | str],
        response: str = "",
        reference: str | None = None,
        **further: Any,
    ) -> Evaluation:
        """Like `evaluate`, but blocks until the result is available. Do not call it in a coroutine that must not
        block."""
        return run_sync(
            self.evaluate(question=question, chunks=chunks, response=response, reference=reference, **further)
        )

    @abstractmethod
    async def _score(self, case: Case) -> Evaluation: ...

    def _missing(self, case: Case, *fields: str) -> Evaluation | None:
        """The result where one of these texts is missing: the reason. None where all are there."""
        missing = next((field for field in fields if getattr(case, field) is None), None)
        return None if missing is None else self._null(_MISSING[missing], f"There is no {missing}.")

    def _null(self, reason: str, explanation: str, chunk_scores: tuple[float | None, ...] = ()) -> Evaluation:
        """Returns an evaluation without a score, with its reason."""
        return Evaluation(name=self.name, reason_code=reason, explanation=explanation, chunk_scores=chunk_scores)


def scored(name: str, score: object, explanation: str) -> Evaluation:
    """Builds an evaluation from the value that a user's function returned. Raises ValueError for an invalid score."""
    if score is None:
        return Evaluation(name=name, reason_code=ReasonCode.NOT_SCORED, explanation=explanation or None)
    if not isinstance(score, Real) or not 0.0 <= (number := float(score)) <= 1.0:
        raise ValueError(f"a score must be a number within 0..1 or None, not {score!r}")
    return Evaluation(name=name, score=number, explanation=explanation or None)


def with_problems(explanation: str, problems: Sequence[str]) -> str:
    """Returns the explanation, followed by the parts of the judge's answer that were ignored."""
    if not problems:
        return explanation
    named = "; ".join(problems[:_NAMED_PROBLEMS])
    more = f"; and {len(problems) - _NAMED_PROBLEMS} more" if len(problems) > _NAMED_PROBLEMS else ""
    return f"{explanation} Ignored: {named}{more}.".lstrip()
