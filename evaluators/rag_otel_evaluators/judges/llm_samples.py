"""Several judgements of the same claims by one model, and how far they agree.

A model's word for its confidence is nearly always 0.9 or more. How often it says the same when asked again, with its
examples in another order (and with a temperature above 0, where one is set), tells sure from unsure verdicts better.
Source: Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", ICLR 2023.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from typing import Protocol

from rag_otel.errors import RagOtelError
from rag_otel_evaluators.judges.llm_answers import ClaimAnswer
from rag_otel_evaluators.prompts.numbered_items import NumberedAnswers


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


_FAVOURABLE: dict[str, int] = {"supported": 2, "not_enough_info": 1, "contradicted": 0}


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
