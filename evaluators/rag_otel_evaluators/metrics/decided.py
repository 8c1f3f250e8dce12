"""Metrics that are a question more to a decision model, in the same request as the claims.

    context relevance     how far each passage answers the question, and all of them together
    response relevancy    how far the response answers the question
    aspect, rubric        whether the definition holds, which level fits

Scores are expected values over the options' probabilities. The response is data, as claims are; passages and question
stand in the state.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.model import Claim, Evaluation, ReasonCode
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.judges.decision_questions import FittingPassages, as_data
from rag_otel_evaluators.judges.decision_verdicts import CUT
from rag_otel_evaluators.judges.decisions import DecisionJudge
from rag_otel_evaluators.llm.decisions.form import REFUSED, Choice, ChoiceAnswer
from rag_otel_evaluators.metrics.faithfulness import read_claims
from rag_otel_evaluators.metrics.llm_metric import short_hash
from rag_otel_evaluators.metrics.metric import Case, Metric, only_abstains
from rag_otel_evaluators.metrics.response_relevancy import NONCOMMITTAL

_REVISION: Final = "decided-1"
_RESPONSE: Final = " Response: «{response}»"
_FULL, _PART, _OFF, _NO, _YES = "full", "part", "off", "no", "yes"
_WORTH: Final = {_FULL: 1.0, _PART: 0.5, _OFF: 0.0}
_ANSWERS: Final = {
    _FULL: "It answers the question.",
    _PART: "It answers a part of the question, or helps to answer it.",
    _OFF: "It does not help to answer the question.",
}


class DecidedMetric(Metric):
    """A `Metric` that rides along in a decision judge's request. Errors of the model are failed evaluations."""

    def __init__(self, *, name: str, judge: DecisionJudge, wording: str) -> None:
        """Raises ValueError for an invalid name of a metric."""
        super().__init__(name)
        self._wording = short_hash(wording)
        self.judge = judge
        judge.riders[name] = self.questions

    @property
    def version(self) -> str:
        """`decided-<revision>+<hash of what is asked>`."""
        return f"{_REVISION}+{self._wording}"

    @property
    def judge_name(self) -> str:
        return self.judge.name

    @property
    def most_calls(self) -> int:
        """Calls of one evaluation, at most."""
        return self.judge.most_calls

    async def _score(self, case: Case) -> Evaluation:
        if (result := self._without_call(case)) is not None:
            return result
        claims: tuple[Claim, ...] = ()
        if self.judge.judges_claims and case.has_context:
            claims = (await cooperatively(read_claims(case.response or ""))).claims
        found = await self.judge.ask(
            self.name, question=case.question, chunks=case.given_chunks, response=case.response or "", claims=claims
        )
        result = self._scored(found.answers, len(case.chunks))
        return dataclasses.replace(result, usage=found.usage, answered_by=found.answered_by)

    @abstractmethod
    def questions(self, question: str | None, passages: FittingPassages, response: str) -> list[Choice]:
        """What is asked; see `Rider`."""

    @abstractmethod
    def _without_call(self, case: Case) -> Evaluation | None:
        """The result that needs no model; None where one must be asked."""

    @abstractmethod
    def _scored(self, answers: Mapping[str, ChoiceAnswer], chunks: int) -> Evaluation: ...

    def _unanswered(self, answer: ChoiceAnswer | None) -> Evaluation:
        problem = "was not asked" if answer is None else answer.problem or "got no answer"
        reason = problem if problem in (REFUSED, CUT) else ReasonCode.JUDGE_ERROR
        return self._null(reason, f"No score: the question {problem}.")


class DecidedContextRelevance(DecidedMetric):
    """The score is how far the question can be answered from all passages, `chunk_scores` from each alone."""

    needs = ("question", "chunks")
    _ALL: Final = "How far can `question` be answered from `passages` alone?"
    _ONE: Final = "How far does passage `{key}` of `passages`, by itself, answer `question`?"

    def __init__(self, *, judge: DecisionJudge, name: str = "context_relevance") -> None:
        super().__init__(name=name, judge=judge, wording=f"{self._ALL}{self._ONE}{_ANSWERS}")

    def questions(self, question: str | None, passages: FittingPassages, response: str) -> list[Choice]:
        if question is None:
            return []
        each = [
            Choice(name=f"{self.name}.{key}", instructions=self._ONE.format(key=key), options=_ANSWERS)
            for key in passages.texts
        ]
        return [Choice(name=f"{self.name}.all", instructions=self._ALL, options=_ANSWERS), *each]

    def _without_call(self, case: Case) -> Evaluation | None:
        if (missing := self._missing(case, "question")) or case.has_context:
            return missing
        scores = tuple(0.0 for _ in case.chunks)
        return dataclasses.replace(self._null(ReasonCode.NO_CONTEXT, "Nothing was retrieved.", scores), score=0.0)

    def _scored(self, answers: Mapping[str, ChoiceAnswer], chunks: int) -> Evaluation:
        whole = answers.get(f"{self.name}.all")
        if whole is None or whole.problem is not None:
            return self._unanswered(whole)
        each = [answers.get(f"{self.name}.c{index}") for index in range(chunks)]
        scores = tuple(None if one is None or one.problem is not None else _worth(one.probabilities) for one in each)
        return Evaluation(
            name=self.name,
            score=_worth(whole.probabilities),
            chunk_scores=scores,
            explanation=_said(whole.probabilities),
            reason_code=ReasonCode.INCOMPLETE if None in scores else None,
        )


class DecidedResponseRelevancy(DecidedMetric):
    """The score is how far the response answers the question; 0 with the label `noncommittal` for one that declines."""

    needs = ("question", "response")
    _ASKED: Final = "How far does this response answer `question`? Whether it is true does not matter." + _RESPONSE
    _OPTIONS: Final = {**_ANSWERS, NONCOMMITTAL: "It says that it does not know, or declines to answer."}

    def __init__(self, *, judge: DecisionJudge, name: str = "response_relevancy") -> None:
        super().__init__(name=name, judge=judge, wording=f"{self._ASKED}{self._OPTIONS}")

    def questions(self, question: str | None, passages: FittingPassages, response: str) -> list[Choice]:
        if question is None:
            return []
        asked = self._ASKED.format(response=as_data(response))
        return [Choice(name=self.name, instructions=asked, options=self._OPTIONS)]

    def _without_call(self, case: Case) -> Evaluation | None:
        missing = self._missing(case, "question", "response")
        if missing is None and only_abstains(case.response or ""):
            return self._noncommittal("The response says that it does not know.")
        return missing

    def _scored(self, answers: Mapping[str, ChoiceAnswer], chunks: int) -> Evaluation:
        answer = answers.get(self.name)
        if answer is None or answer.problem is not None:
            return self._unanswered(answer)
        given = answer.probabilities
        if _likeliest(given) == NONCOMMITTAL:
            return self._noncommittal(_said(given))
        return Evaluation(name=self.name, score=_worth(given), explanation=_said(given))

    def _noncommittal(self, explanation: str) -> Evaluation:
        null = self._null(ReasonCode.ABSTAINED, explanation)
        return dataclasses.replace(null, score=0.0, label=NONCOMMITTAL)


class _DecidedCritic(DecidedMetric):
    """One question about the response."""

    needs = ("response",)

    def __init__(self, *, name: str, judge: DecisionJudge, asked: str, options: Mapping[str, str]) -> None:
        self._asked, self._options = as_data(asked) + _RESPONSE, dict(options)
        super().__init__(name=name, judge=judge, wording=f"{self._asked}{self._options}")

    def questions(self, question: str | None, passages: FittingPassages, response: str) -> list[Choice]:
        asked = self._asked.replace("{response}", as_data(response))
        return [Choice(name=self.name, instructions=asked, options=self._options)]

    def _without_call(self, case: Case) -> Evaluation | None:
        return self._missing(case, "response")

    def _scored(self, answers: Mapping[str, ChoiceAnswer], chunks: int) -> Evaluation:
        answer = answers.get(self.name)
        if answer is None or answer.problem is not None:
            return self._unanswered(answer)
        return dataclasses.replace(self._of(answer.probabilities), explanation=_said(answer.probabilities))

    @abstractmethod
    def _of(self, given: Mapping[str, float]) -> Evaluation: ...


class DecidedAspect(_DecidedCritic):
    """The score is 1 with the label `yes`, or 0 with the label `no`, as of `critics.AspectCritic`."""

    def __init__(self, *, name: str, definition: str, judge: DecisionJudge) -> None:
        if not definition.strip():
            raise ConfigurationError(f"{name}: the definition of the aspect is empty")
        options = {_YES: "It holds for the response.", _NO: "It does not hold for the response."}
        super().__init__(name=name, judge=judge, asked=f"Of the response below: {definition}", options=options)

    def _of(self, given: Mapping[str, float]) -> Evaluation:
        return Evaluation(name=self.name, score=float(_likeliest(given) == _YES), label=_likeliest(given))


class DecidedRubric(_DecidedCritic):
    """The score is the expected place between the lowest and the highest level, the label the likeliest level."""

    def __init__(self, *, name: str, levels: Mapping[int, str], judge: DecisionJudge) -> None:
        self._levels = dict(levels)
        options = {str(level): text for level, text in self._levels.items()}
        super().__init__(name=name, judge=judge, asked="Which level does the response below reach?", options=options)

    def _of(self, given: Mapping[str, float]) -> Evaluation:
        lowest, *_, highest = self._levels
        expected = sum(int(level) * probability for level, probability in given.items())
        score = min(1.0, max(0.0, (expected - lowest) / (highest - lowest)))
        return Evaluation(name=self.name, score=score, label=_likeliest(given))


def _worth(given: Mapping[str, float]) -> float:
    """The expected worth, 0..1."""
    return min(1.0, sum(_WORTH.get(option, 0.0) * probability for option, probability in given.items()))


def _likeliest(given: Mapping[str, float]) -> str:
    return max(given, key=given.__getitem__)


def _said(given: Mapping[str, float]) -> str:
    return ", ".join(f"{option} {probability:.2f}" for option, probability in given.items()) + "."
