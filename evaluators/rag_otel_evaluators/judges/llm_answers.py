"""What a model says of each claim, in whatever form it writes that; and how far several answers of it agree.

A model's word for its confidence is nearly always 0.9 or more. How often it says the same when asked again, with its
examples in another order (and with a temperature above 0, where one is set), tells sure from unsure verdicts better.
Source: Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", ICLR 2023.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from typing import Annotated, Any, Final, Literal, Protocol

from pydantic import BaseModel, BeforeValidator

from rag_otel.errors import RagOtelError
from rag_otel_evaluators.prompts.numbered_items import NumberedAnswers


def _plain(value: Any) -> Any:
    """`Not enough info` and `NOT-ENOUGH-INFO` as the word that was asked for."""
    return "_".join(value.casefold().replace("-", " ").split()) if isinstance(value, str) else value


def _probability(value: Any) -> Any:
    """None for what is no probability: a malformed confidence must not discard the verdict beside it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0.0 <= number <= 1.0 else None


def _texts(value: Any) -> Any:
    """A lone id as a list of one; null as none; numbers and objects (`{"chunk": 0, "sentence": 1}`) as ids."""
    if value is None:
        return []
    return [_as_text(each) for each in (value if isinstance(value, list) else [value])]


def _as_text(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    named = [str(value[key]) for key in ("id", "quote", "text") if value.get(key)]
    numbers = [str(value[key]).lstrip("cCsS") for key in ("chunk", "sentence") if value.get(key) is not None]
    return named[0] if named else "c" + ".s".join(numbers)


def _words(value: Any) -> Any:
    return "" if value is None else value


class ClaimAnswer(BaseModel):
    """What the model says of one claim. The order is the order of writing: evidence and reason before the verdict."""

    claim: int
    evidence: Annotated[list[str], BeforeValidator(_texts)]
    reason: str = ""
    unsupported_span: Annotated[str, BeforeValidator(_words)] = ""
    """The words of the claim that the chunks do not support; empty where they support all of it."""
    verdict: Annotated[Literal["supported", "contradicted", "not_enough_info"], BeforeValidator(_plain)]
    confidence: Annotated[float | None, BeforeValidator(_probability)] = None
    """The model's own probability that its verdict is right, 0..1."""

    @property
    def index(self) -> int:
        return self.claim

    @property
    def decision(self) -> str:
        return self.verdict


class _Ask(Protocol):
    def __call__(self, *, order: int, calls: int) -> Awaitable[NumberedAnswers[ClaimAnswer]]: ...


async def sampled_answers(ask: _Ask, samples: int, claims: int) -> NumberedAnswers[ClaimAnswer]:
    """Ask `samples` times at once, one call each; where no sample can be used, once more.

    The verdict of a claim is that of most samples, of equal ones the less favourable; its confidence is their share
    among the samples that judged it, drawn in by one vote for each side. Errors are raised where every sample fails.
    """
    given = await asyncio.gather(*(ask(order=order, calls=1) for order in range(samples)), return_exceptions=True)
    usable: list[NumberedAnswers[ClaimAnswer]] = []
    for each in given:
        if isinstance(each, BaseException) and not isinstance(each, RagOtelError):
            raise each
        if not isinstance(each, BaseException):
            usable.append(each)
    failures = [each for each in given if isinstance(each, RagOtelError)]
    if not usable:
        raise failures[0]
    if not any(answers.by_index for answers in usable):
        usable.append(await ask(order=samples, calls=1))
    by_index = {index: agreed for index in range(claims) if (agreed := _agreed(index, usable)) is not None}
    return NumberedAnswers(
        by_index=by_index,
        problems=(*(f"a sample failed: {failure}" for failure in failures), *(p for a in usable for p in a.problems)),
        unusable={i: answer for answers in usable for i, answer in answers.unusable.items() if i not in by_index},
    )


_FAVOURABLE: Final = {"supported": 2, "not_enough_info": 1, "contradicted": 0}


def _agreed(index: int, samples: Sequence[NumberedAnswers[ClaimAnswer]]) -> ClaimAnswer | None:
    said = [answers.by_index[index] for answers in samples if index in answers.by_index]
    if not said:
        return None
    supported = sum(answer.verdict == "supported" for answer in said)
    side = [answer for answer in said if (answer.verdict == "supported") == (2 * supported > len(said))]
    counts = Counter(answer.verdict for answer in side)
    verdict = max(counts, key=lambda name: (counts[name], -_FAVOURABLE[name]))
    confidence = (len(side) + 1) / (len(said) + 2)  # Laplace: three of three is .8, not certainty
    chosen = next(answer for answer in side if answer.verdict == verdict)
    return chosen.model_copy(update={"confidence": confidence})
