"""Verdicts, score, label and explanation of one answer never contradict each other, whoever judges.

A model in this process is a language model like any other: `LlmJudge` asks it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.evaluation.support import FAITHFUL, UNFAITHFUL, UNFAITHFUL_FROM
from rag_otel.model import Chunk, Claim, ClaimVerdict, Evaluation, Quote, Verdict
from rag_otel_evaluators.judges.cascade import CascadeJudge
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge, Judgement
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.judges.statements import StatementsJudge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import JudgeRequest, JudgeServer
from testkit.when_used import WhenUsed, llm_model
from testkit.word_overlap_judge import fields_of, items_of

hhem_judge = WhenUsed("rag_otel_evaluators.judges.hhem", "hhem_judge")

UNSUPPORTED = (Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO)
CHUNKS = (
    "The Eiffel Tower is 330 metres high. It was finished in 1889 for a world fair.",
    "Paris is the capital of France and lies on the Seine. It has 2.1 million inhabitants.",
)
SENTENCES = (
    "The tower is 330 metres high.",
    "The tower is 350 metres high.",
    "It was finished in 1889.",
    "It was not finished in 1889.",
    "Paris lies on the Loire.",
    "It has 5 million inhabitants.",
    "A circus from Nevada bought it twice.",
    "No.",
    "The capital of France is Paris, which lies on the Seine.",
)
answers = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8).map(" ".join)
limits = st.one_of(st.just(UNFAITHFUL_FROM), st.floats(0.0, 1.0), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
probabilities = st.one_of(st.none(), st.floats(0.0, 1.0), st.sampled_from([0.0, 0.5, 0.7, 1.0, math.nan]))
said = st.lists(st.tuples(st.sampled_from(list(Verdict)), probabilities), min_size=8, max_size=8)

numbers_said = said.filter(lambda words: not any(probability != probability for _, probability in words))
bands = st.tuples(st.floats(0.0, 0.6), st.floats(0.61, 1.0))


def check(result: Evaluation, unfaithful_from: float = UNFAITHFUL_FROM) -> None:
    """Everything that a reader could hold against a result."""
    unsupported = [claim for claim in result.claims if claim.verdict in UNSUPPORTED]
    judged = [claim for claim in result.claims if claim.verdict is not Verdict.UNJUDGED]
    assert (result.label == UNFAITHFUL) == bool(unsupported)
    assert (result.label == FAITHFUL) == (bool(judged) and not unsupported and len(judged) == len(result.claims))
    assert result.score == ((len(judged) - len(unsupported)) / len(judged) if judged else None)
    if len(judged) == len(result.claims):
        assert (result.score == 1.0) == (result.label == FAITHFUL)
    for claim in judged:
        probability = claim.support_probability
        if probability is not None:
            assert (claim.verdict is not Verdict.SUPPORTED) == (1.0 - probability >= unfaithful_from)
    explanation = result.explanation or ""
    if judged:
        count, word = (len(unsupported), "unsupported") if unsupported else (len(judged), "supported")
        assert f"{count} of {len(judged)} claims are {word}." in explanation


class SaysAnything:
    """A judge that says what it was given, whether its words and its probabilities agree or not."""

    version = "1"

    def __init__(self, words: Sequence[tuple[Verdict, float | None]], *, risk: float | None = None, name: str = "any"):
        self.name = name
        self._words = words
        self._risk = risk

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        quote = Quote(chunk_id=chunks[0].id, start=0, end=3, text=chunks[0].text[:3])
        verdicts = (
            ClaimVerdict(claim=claim, verdict=verdict, support_probability=probability, quotes=(quote,))
            for claim, (verdict, probability) in zip(claims, self._words, strict=False)
        )
        return Judgement(verdicts=tuple(verdicts), risk=self._risk)


def judged_by(judge: Judge, response: str, unfaithful_from: float = UNFAITHFUL_FROM) -> Evaluation:
    metric = Faithfulness(judge=judge, unfaithful_from=unfaithful_from)
    return metric.evaluate_sync(question="How high is it?", chunks=CHUNKS, response=response)


@settings(max_examples=1000, deadline=None)
@given(words=said, risk=st.one_of(st.none(), st.floats(0.0, 1.0)), response=answers, limit=limits)
def test_a_judge_of_ones_own(
    words: list[tuple[Verdict, float | None]], risk: float | None, response: str, limit: float
) -> None:
    """Its probabilities decide where it gives some, its verdicts where not, and its risk never."""
    check(judged_by(SaysAnything(words, risk=risk), response, limit), limit)


@settings(deadline=None)
@given(words=said, response=answers)
def test_where_it_does_not_follow_the_judge_the_explanation_says_why(
    words: list[tuple[Verdict, float | None]], response: str
) -> None:
    """Nobody reads a verdict beside a reason for another one."""
    for claim, (verdict, probability) in zip(judged_by(SaysAnything(words), response).claims, words, strict=False):
        if claim.verdict is verdict:
            continue
        assert probability is not None
        counts = "Counts as supported" if claim.verdict is Verdict.SUPPORTED else "Does not count as supported"
        assert claim.explanation is not None
        assert claim.explanation.startswith(f"{counts}: its probability of support is {probability:.2f}")
        assert f"The judge said {verdict}" in claim.explanation
        assert bool(claim.chunk_ids) == (claim.verdict is Verdict.SUPPORTED)


@settings(max_examples=300, deadline=None)
@given(response=answers, limit=limits)
def test_the_embedded_judge(response: str, limit: float) -> None:
    check(judged_by(EmbeddedJudge(), response), UNFAITHFUL_FROM)
    check(judged_by(EmbeddedJudge(), response, limit), limit)


@settings(max_examples=500, deadline=None)
@given(
    cheap=numbers_said,
    expensive=numbers_said,
    band=st.tuples(st.floats(0.0, 0.6), st.floats(0.61, 1.0)),
    response=answers,
)
def test_a_cascade(
    cheap: list[tuple[Verdict, float | None]],
    expensive: list[tuple[Verdict, float | None]],
    band: tuple[float, float],
    response: str,
) -> None:
    """Claims of one answer are decided by two judges; the label follows all of them."""
    judge = CascadeJudge(
        cheap=SaysAnything(cheap, name="cheap"),
        expensive=SaysAnything(expensive, name="expensive"),
        sure_unsupported_to=band[0],
        sure_supported_from=band[1],
    )
    check(judged_by(judge, response))


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    """A model that says anything about any claim, in the form that it was asked for."""
    draw = random.Random(7)

    def answer(request: JudgeRequest) -> Any:
        fields = fields_of(request)
        if "sentences" in fields:
            sentences = items_of(fields["sentences"]).items()
            return {"statements": [{"sentence": int(number), "statement": text} for number, text in sentences]}
        return {
            "verdicts": [
                {
                    "claim": int(number),
                    "evidence": draw.choice([["c0.s0"], ["c1.s1", "c0.s1"], []]),
                    "reason": "It says so.",
                    "verdict": draw.choice(["supported", "supported", "contradicted", "not_enough_info"]),
                    "confidence": draw.choice([None, draw.random(), 1.0, 0.5]),
                }
                for number in items_of(fields["claims"])
            ]
        }

    with JudgeServer(answer=answer) as running:
        yield running


@pytest.mark.usefixtures("litellm_is_loaded")
@pytest.mark.parametrize("options", [{}, {"samples": 3}, {"strategy": "two_step"}])
def test_a_language_model(server: JudgeServer, options: dict[str, Any]) -> None:
    model, draw = llm_model("openai/judge", api_base=server.url, retry=RetryPolicy(attempts=1)), random.Random(3)
    for _ in range(40):
        response, limit = " ".join(draw.sample(SENTENCES, draw.randint(1, 8))), draw.choice([UNFAITHFUL_FROM, 0.5])
        check(judged_by(LlmJudge(model=model, **options), response, limit), limit)


@pytest.mark.usefixtures("litellm_is_loaded")
def test_statements_and_a_classifier(server: JudgeServer) -> None:
    model, draw = llm_model("openai/judge", api_base=server.url, retry=RetryPolicy(attempts=1)), random.Random(5)
    for _ in range(20):
        response = " ".join(draw.sample(SENTENCES, draw.randint(1, 8)))
        check(judged_by(StatementsJudge(model=model, classifier=EmbeddedJudge()), response))


@pytest.mark.torch
def test_hhem(hhem_folder: Path) -> None:
    """Its word does not contradict its probability either: "supports it with a probability of 0.12" is no verdict."""
    judge, draw = hhem_judge(hhem_folder), random.Random(9)
    for _ in range(30):
        response, limit = " ".join(draw.sample(SENTENCES, draw.randint(1, 8))), draw.choice([UNFAITHFUL_FROM, 0.6])
        result = judged_by(judge, response, limit)
        check(result, limit)
