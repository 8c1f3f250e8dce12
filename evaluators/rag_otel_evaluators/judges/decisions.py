"""A decision model as the judge of faithfulness: a probability for each verdict on every claim, in one request.

    Faithfulness(judge=DecisionJudge(model=decision_model("decisions/openai/gpt-6-luna")))

Each claim is one choice among supported, contradicted and not stated; beside it stands a choice of the passage that
bears on it. The quote is cut out of that passage by our code. Nothing becomes a pass by accident: an answer that is
missing, refused, nameless or no distribution leaves its claim `unjudged`, and so does a state that the model has not
read to its end. Experimental: how good these models are at claims is not published; `rag-otel judge check` measures it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from rag_otel.errors import ConfigurationError, RagOtelError, RetryableError
from rag_otel.model import Chunk, Claim, Usage
from rag_otel.safety.guard import counters, logger
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.judges.decision_questions import (
    WORDING,
    FittingPassages,
    claim_questions,
    end_question,
    fitting_passages,
    parts_of,
    state_size,
    the_form,
)
from rag_otel_evaluators.judges.decision_verdicts import CUT, reason_code_of, verdicts_of
from rag_otel_evaluators.judges.judge import Judgement, likeliest_risk
from rag_otel_evaluators.judges.llm_faithfulness import MOST_CLAIMS
from rag_otel_evaluators.judges.shared_calls import SharedCalls
from rag_otel_evaluators.llm.decisions.form import REFUSED, Choice, ChoiceAnswer, FormAnswers
from rag_otel_evaluators.llm.decisions.providers import RequestLimits
from rag_otel_evaluators.llm.decisions.transport import missed
from rag_otel_evaluators.llm.metered import MeteredModel
from rag_otel_evaluators.llm.structured import StructuredModel

_REVISION: Final = "1"
_TOKENS_A_QUESTION: Final = 60
"""What its options and what it is answered with take, about; for reservations."""
_CLAIMS_A_PART: Final = 1_500
"""Bytes of the questions on a claim of usual length."""

CLAIMS: Final = "claims"
Rider: TypeAlias = Callable[[str | None, FittingPassages, str], list[Choice]]
"""(question, passages, response) -> what another metric asks in the same request. Names begin with the metric's."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked about one answer, and what came back."""

    answers: Mapping[str, ChoiceAnswer]
    """By the name of the question."""
    asked: frozenset[str]
    """The questions that were sent."""
    passages: FittingPassages
    usage: Usage
    problems: tuple[str, ...] = ()
    answered_by: str | None = None


class DecisionJudge:
    """A `Judge` that asks a model that answers forms."""

    def __init__(
        self,
        *,
        model: StructuredModel,
        limits: RequestLimits,
        refuses_whole: bool = False,
        most_claims: int = MOST_CLAIMS,
        check_end: bool = True,
    ) -> None:
        """`limits` and `refuses_whole` are the provider's (`decision_model.limits_of`). `most_claims`: claims that are
        judged; of more, the first. `check_end`: ask about the end of the state too, to notice one that was cut.

        Raises ConfigurationError for a count below 1.
        """
        if most_claims < 1:
            raise ConfigurationError(f"most_claims must be at least 1, not {most_claims}")
        self.model = model
        self.most_claims = most_claims
        self.check_end = check_end
        self.riders: dict[str, Rider] = {}
        """Metrics that ask in the same request, by name."""
        self.judges_claims = False
        """Whether a metric of claims does so too; its claims then go along whoever asks first."""
        self._shared: SharedCalls[Asked] = SharedCalls()
        self._limits = limits
        self._refuses_whole = refuses_whole

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def version(self) -> str:
        """`<revision>+<hash of the wording>`."""
        return f"{_REVISION}+{WORDING}"

    @property
    def most_parts(self) -> int:
        """Requests into which one answer is split, at most."""
        by_size = max(1, (self._limits.request - self._limits.state) // _CLAIMS_A_PART)
        of_claims = math.ceil(self.most_claims / min(by_size, (self._limits.questions - 1) // 2))
        return of_claims + bool(self.riders)

    @property
    def most_calls(self) -> int:
        """Calls that one answer can cost, at most, whatever comes back."""
        return self.most_parts * (3 if self._refuses_whole else 1)

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`. Errors of the model are raised while no verdict is known; later they cost the missing."""
        found = await self.ask(CLAIMS, question=question, chunks=chunks, response=response, claims=claims)
        verdicts = await cooperatively(verdicts_of(claims, found.answers, chunks, found.passages, found.answered_by))
        left_out = sum(f"k{index}" not in found.asked for index in range(len(claims)))
        return Judgement(
            verdicts=verdicts,
            risk=likeliest_risk(verdicts),
            usage=found.usage,
            reason_code=reason_code_of(
                verdicts, found.answers, left_out=left_out, complete=not found.passages.problems
            ),
            problems=(*found.passages.problems, *found.problems),
            answered_by=found.answered_by,
        )

    async def ask(
        self, who: str, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Asked:
        """All answers about one answer: on its claims, and on what `riders` ask.

        `who`: `CLAIMS` or the name of a rider; those that ask about the same answer share one request, and the first
        has its usage.
        """
        if not self.riders:
            return await self._asked(question, chunks, response, claims)
        key = (question, tuple(chunk.text for chunk in chunks), response, tuple(claims))
        group = {*self.riders, *([CLAIMS] if self.judges_claims else [])}
        found, first = await self._shared.once(key, who, group, lambda: self._asked(question, chunks, response, claims))
        return found if first else dataclasses.replace(found, usage=Usage(cost_usd=0.0))

    async def _asked(
        self, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Asked:
        model = MeteredModel(self.model, most_calls=self.most_calls)
        asked = list(claims[: self.most_claims])
        passages = fitting_passages(chunks, asked, question or "", self._limits)
        questions = [claim_questions(index, claim, passages) for index, claim in enumerate(asked)]
        for rider in self.riders.values():
            questions += [[each] for each in rider(question, passages, response)]
        parts = list(parts_of(questions, state_size(question, passages), self._limits))[: self.most_parts]
        end = end_question(response) if self.check_end else None
        given = await asyncio.gather(
            *(self._ask(model, question, passages, [questions[index] for index in part], end) for part in parts),
            return_exceptions=True,
        )
        answers, answered, problems = _collected(given)
        return Asked(
            answers=answers,
            asked=frozenset(each.name for part in parts for index in part for each in questions[index]),
            passages=passages,
            usage=model.usage,
            problems=tuple(problems),
            answered_by=_answered_by(self.name, answered),
        )

    async def _ask(
        self,
        model: MeteredModel,
        question: str | None,
        passages: FittingPassages,
        asked: Sequence[Sequence[Choice]],
        end: tuple[str, Choice] | None,
        *,
        halve: bool = True,
    ) -> list[FormAnswers]:
        """One request; where it is refused as a whole, one more about each half of the claims."""
        form = the_form(question, passages, [each for of_claim in asked for each in of_claim], end)
        completion = await model.complete_once(
            form.messages(),
            FormAnswers,
            max_output_tokens=_TOKENS_A_QUESTION * len(form.questions),
            schema=form.layout(),
        )
        if (answers := completion.value) is None:
            raise RetryableError(f"unreadable: {'; '.join(completion.problems)}")
        if not answers.refused:
            return [self._believed(answers, form.questions)]
        if halve and len(asked) > 1:
            middle = len(asked) // 2
            halves = [
                await self._ask(model, question, passages, part, end, halve=False)
                for part in (asked[:middle], asked[middle:])
            ]
            return [answers for half in halves for answers in half]
        return [_without(form.questions, REFUSED, answers.model)]

    def _believed(self, answers: FormAnswers, questions: Sequence[Choice]) -> FormAnswers:
        """The answers, or none of them where the model did not see the end of the state."""
        if not missed(questions, answers):
            return answers
        if counters.add("judge.state_cut") == 1:
            logger.warning(
                "rag-otel: %s did not read the text that it was sent to its end: its verdicts do not count "
                "(reason code %s); give it fewer or shorter chunks",
                self.name,
                CUT,
            )
        return _without(questions, CUT, answers.model)


def _without(questions: Sequence[Choice], problem: str, model: str) -> FormAnswers:
    return FormAnswers(answers=[ChoiceAnswer(name=each.name, problem=problem) for each in questions], model=model)


def _collected(
    given: Sequence[list[FormAnswers] | BaseException],
) -> tuple[dict[str, ChoiceAnswer], list[FormAnswers], list[str]]:
    """(answers by name, answers of each request, problems). Raises the first error where no request was answered."""
    failures = [each for each in given if isinstance(each, BaseException)]
    answered = [answers for each in given if not isinstance(each, BaseException) for answers in each]
    for failure in failures:
        if not answered or not isinstance(failure, RagOtelError):
            raise failure
    by_name = {name: answer for answers in answered for name, answer in answers.by_name().items()}
    return by_name, answered, [f"a part of the claims was not judged: {failure}" for failure in failures]


def _answered_by(name: str, answered: Sequence[FormAnswers]) -> str | None:
    """The judge's name with the version that answered; None where that is the one that was asked."""
    said = next((answers.model for answers in answered if answers.model), None)
    if said is None or name.endswith(f"/{said}"):
        return None
    return f"{'/'.join(name.split('/')[:2])}/{said}"
