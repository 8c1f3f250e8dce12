"""Faithfulness: the examples of its literature, the score, the risk, the label, and what has no score."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_otel.evaluation.support import UNFAITHFUL_FROM
from rag_otel.model import Chunk, Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge, Judgement, independent_risk
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

EINSTEIN = (
    "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist, widely held to be one of the "
    "greatest and most influential scientists of all time"
)
EINSTEIN_ES = "Albert Einstein (nacido el 14 de marzo de 1879) fue un físico teórico alemán."
SUPER_BOWL = (
    "The First AFL–NFL World Championship Game was an American football game played on January 15, 1967, at the Los "
    "Angeles Memorial Coliseum in Los Angeles,"
)
PACKERS = ["The Green Bay Packers...Green Bay, Wisconsin.", "The Packers compete...Football Conference"]


def evaluate(chunks: Sequence[Chunk | str], response: str, question: str | None = None) -> Evaluation:
    return Faithfulness().evaluate_sync(question=question, chunks=chunks, response=response)


@pytest.mark.parametrize(
    ("chunk", "response"),
    [
        (EINSTEIN, "Einstein was born in Germany on 14th March 1879."),
        (EINSTEIN_ES, "Einstein nació en Alemania el 14 de marzo de 1879."),
    ],
)
def test_einstein_high(chunk: str, response: str) -> None:
    """The faithful answer of the RAGAS documentation, in both languages."""
    result = evaluate([chunk], response, "Where and when was Einstein born?")
    assert (result.score, result.label) == (1.0, "faithful")
    assert result.claims[0].verdict is Verdict.SUPPORTED
    assert result.claims[0].chunk_ids == ("0",)


@pytest.mark.parametrize(
    ("chunk", "response"),
    [
        (EINSTEIN, "Einstein was born in Germany on 20th March 1879."),
        (EINSTEIN_ES, "Einstein nació en Alemania el 20 de marzo de 1879."),
    ],
)
def test_einstein_low(chunk: str, response: str) -> None:
    """The unfaithful answer gives another day: contradicted, with the date that the context has."""
    result = evaluate([chunk], response, "Where and when was Einstein born?")
    assert (result.score, result.label) == (0.0, "unfaithful")
    (verdict,) = result.claims
    assert verdict.verdict is Verdict.CONTRADICTED
    assert verdict.chunk_ids == ("0",)
    assert verdict.explanation is not None
    assert verdict.explanation.startswith(("The context says 14 March", "The context says 14 de marzo"))


def test_super_bowl() -> None:
    """ "Jan 15" is January 15, and "superbowl" is what the question calls "super bowl"."""
    result = evaluate([SUPER_BOWL], "The first superbowl was held on Jan 15, 1967", "When was the first super bowl?")
    assert (result.score, result.label) == (1.0, "faithful")


def test_patriots() -> None:
    """Nothing in the context speaks of the Patriots: the claim has no evidence, and the words say why."""
    result = evaluate(
        PACKERS, "The most super bowls have been won by The New England Patriots", "Who won the most super bowls?"
    )
    assert (result.score, result.label) == (0.0, "unfaithful")
    assert result.claims[0].verdict is Verdict.NOT_ENOUGH_INFO
    assert result.claims[0].chunk_ids == ()
    assert result.explanation is not None
    assert "Patriots" in result.explanation


def test_score_is_the_supported_share() -> None:
    """One supported claim of two is 0.5, and the answer is risky."""
    result = evaluate(
        ["The plan costs $20 per month and includes 5 users."], "It includes five users. It costs $25 per month."
    )
    assert result.score == 0.5
    assert result.risk is not None
    assert result.risk >= 0.5


@pytest.mark.parametrize(
    ("response", "reason"), [("I don't know.", "abstained"), ("Hello!", "no_claims"), ("", "no_claims")]
)
def test_nothing_to_judge(response: str, reason: str) -> None:
    """Without a claim there is no score, no risk and no label, but a reason."""
    result = evaluate(["Paris is in France."], response)
    assert (result.score, result.risk, result.label, result.reason_code) == (None, None, None, reason)
    assert result.explanation


@pytest.mark.parametrize("chunks", [[], ["", " \n"]])
def test_no_context(chunks: list[str]) -> None:
    """Claims without any context score 0, and the result says that nothing was retrieved."""
    result = evaluate(chunks, "Paris is in France. Rome is in Italy.")
    assert (result.score, result.risk, result.label, result.reason_code) == (0.0, 1.0, "unfaithful", "no_context")
    assert [verdict.verdict for verdict in result.claims] == [Verdict.NOT_ENOUGH_INFO] * 2


def test_abstention_without_context_stays_an_abstention() -> None:
    """Saying "I don't know" after an empty retrieval is right, not unfaithful."""
    assert evaluate([], "I don't know.").reason_code == "abstained"


def test_chunks_keep_their_ids() -> None:
    """Evidence names the store's own ids; a mere string goes by its position."""
    chunk = Chunk(id="doc-7", text="Paris is the capital of France.", position=1)
    result = evaluate(["Rome is old.", chunk], "Paris is the capital of France.")
    assert result.claims[0].chunk_ids == ("doc-7",)
    assert result.claims[0].quotes[0].text == chunk.text


def test_result_says_who_judged() -> None:
    """Metric, evaluator, judge, both versions and the cost stand in the result."""
    result = evaluate([EINSTEIN], "Einstein was born in 1879.")
    assert (result.name, result.evaluator, result.judge) == ("faithfulness", "Faithfulness", "embedded")
    assert result.version == Faithfulness().version
    assert result.usage is not None
    assert result.usage.cost_usd == 0.0


async def test_sync_twin_inside_a_running_loop() -> None:
    """In a notebook, where a loop is running, the twin returns what awaiting does."""
    metric = Faithfulness()
    arguments = {"question": None, "chunks": [EINSTEIN], "response": "Einstein was born in 1879."}
    awaited = await metric.evaluate(**arguments)  # type: ignore[arg-type]
    assert metric.evaluate_sync(**arguments).claims == awaited.claims  # type: ignore[arg-type]


def test_it_is_an_evaluator_with_a_judge() -> None:
    """The parts fit the interfaces that the rest is written against."""
    assert isinstance(Faithfulness(), Evaluator)
    assert isinstance(EmbeddedJudge(), Judge)


class VerdictJudge:
    """A judge of verdicts: no risk of its own, one claim left unjudged."""

    name = "verdicts"
    version = "3"

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        verdicts = [Verdict.SUPPORTED, Verdict.UNJUDGED, Verdict.NOT_ENOUGH_INFO]
        return Judgement(
            verdicts=tuple(
                ClaimVerdict(claim=claim, verdict=verdict) for claim, verdict in zip(claims, verdicts, strict=True)
            ),
            reason_code="budget",
        )


def test_a_judge_of_verdicts() -> None:
    """Unjudged claims are left out of the score and named; risk is derived from the verdicts."""
    metric = Faithfulness(judge=VerdictJudge())
    result = metric.evaluate_sync(chunks=["x"], response="It rains. It pours. It snows.")
    assert result.score == 0.5
    assert result.reason_code == "budget"
    assert result.risk == pytest.approx(1 - 0.95 * 0.05)
    assert result.version.endswith("3")
    assert "1 not judged" in (result.explanation or "")


def test_risk_of_nothing_is_unknown() -> None:
    """Without a judged claim there is no risk to derive."""
    assert independent_risk([]) is None


def test_threshold_is_frozen_and_settable() -> None:
    """Verdicts and label turn at the documented probability; another one can be given, within 0..1."""
    assert UNFAITHFUL_FROM == 0.3
    strict = Faithfulness(unfaithful_from=0.0)
    result = strict.evaluate_sync(chunks=[EINSTEIN], response="Einstein was born in 1879.")
    assert (result.score, result.label) == (0.0, "unfaithful")
    assert strict.version != Faithfulness().version
    with pytest.raises(ValueError, match="within"):
        Faithfulness(unfaithful_from=2)


@pytest.mark.parametrize(
    ("probabilities", "label", "reason"),
    [
        ((0.99, None), None, ReasonCode.INCOMPLETE),
        ((0.01, None), "unfaithful", ReasonCode.INCOMPLETE),
        ((0.99, 0.98), "faithful", None),
        ((None, None), None, ReasonCode.JUDGE_ERROR),
    ],
)
def test_an_answer_is_not_called_faithful_while_a_claim_could_turn_it(
    probabilities: tuple[float | None, float | None], label: str | None, reason: str | None
) -> None:
    """What is judged in part has a reason code, and at most the label that no further verdict can take away."""

    class Partial:
        name = version = "partial"

        async def judge(
            self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
        ) -> Judgement:
            return Judgement(
                verdicts=tuple(
                    ClaimVerdict(
                        claim=claim,
                        verdict=Verdict.UNJUDGED
                        if probability is None
                        else (Verdict.SUPPORTED if probability > 0.5 else Verdict.NOT_ENOUGH_INFO),
                        support_probability=probability,
                    )
                    for claim, probability in zip(claims, probabilities, strict=True)
                )
            )

    result = Faithfulness(judge=Partial()).evaluate_sync(question="q", chunks=["a"], response="It is red. It is tall.")
    assert (result.label, result.reason_code) == (label, reason)
