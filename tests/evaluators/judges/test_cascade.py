"""The cascade: who decides what, who is asked about what, and what an outage costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.errors import ConfigurationError, PermanentError, RagOtelError, RetryableError
from rag_otel.model import Chunk, Claim, ClaimVerdict, ReasonCode, Usage, Verdict
from rag_otel_evaluators.judges.cascade import CascadeJudge
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge, Judgement
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.text.claim_segmentation import segment

CHUNKS = [Chunk(id="a", text="Whatever.", position=0)]
ANSWER = "One is clear. Two is doubtful. Three is wrong. Four is doubtful too."
CLAIMS = segment(ANSWER).claims


class TableJudge:
    """A judge that has made up its mind: text of the claim -> probability of being supported, None for unjudged."""

    version = "7"

    def __init__(
        self,
        name: str,
        table: Mapping[str, float | None],
        *,
        risk: float | None = None,
        parts: int = 1,
        fails: RagOtelError | None = None,
        calls: int = 1,
    ) -> None:
        self.name = name
        self.asked: list[list[str]] = []
        self._table, self._risk, self._parts, self._fails, self._calls = table, risk, parts, fails, calls

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        self.asked.append([claim.text for claim in claims])
        if self._fails is not None:
            raise self._fails
        verdicts = [self._verdict(part) for claim in claims for part in self._split(claim)]
        usage = Usage(input_tokens=10 * self._calls, calls=self._calls, cost_usd=0.5 * self._calls)
        return Judgement(
            verdicts=tuple(verdicts),
            risk=self._risk,
            usage=usage,
            prompts=(f"{self.name}-prompt",),
            reason_code=ReasonCode.INCOMPLETE if None in (v.support_probability for v in verdicts) else None,
        )

    def _split(self, claim: Claim) -> list[Claim]:
        if self._parts == 1:
            return [claim]
        return [dataclasses.replace(claim, text=f"part {i} of {claim.text}") for i in range(self._parts)]

    def _verdict(self, claim: Claim) -> ClaimVerdict:
        probability = next(value for text, value in self._table.items() if claim.text.endswith(text))
        if probability is None:
            return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED)
        verdict = Verdict.SUPPORTED if probability >= 0.5 else Verdict.NOT_ENOUGH_INFO
        return ClaimVerdict(claim=claim, verdict=verdict, support_probability=probability)


def cheap(**others: float) -> TableJudge:
    table = {"One is clear.": 0.99, "Two is doubtful.": 0.8, "Three is wrong.": 0.02, "Four is doubtful too.": 0.4}
    return TableJudge("cheap", {**table, **others}, risk=0.33, calls=0)


def expensive(two: float | None = 0.1, four: float | None = 0.9, **options: object) -> TableJudge:
    return TableJudge("expensive", {"Two is doubtful.": two, "Four is doubtful too.": four}, **options)  # type: ignore[arg-type]


async def run(first: Judge, second: Judge, **bounds: float) -> Judgement:
    cascade = CascadeJudge(cheap=first, expensive=second, **{"sure_unsupported_to": 0.1, **bounds})
    return await cascade.judge(question="?", chunks=CHUNKS, response=ANSWER, claims=CLAIMS)


async def test_only_uncertain_claims_are_asked_about() -> None:
    """Each claim is decided once, in the answer's order, and says by whom; what was spent adds up."""
    second = expensive(risk=0.9)
    judgement = await run(cheap(), second)
    assert second.asked == [["Two is doubtful.", "Four is doubtful too."]]
    assert [(v.claim.text, str(v.verdict), v.judge) for v in judgement.verdicts] == [
        ("One is clear.", "supported", "cheap"),
        ("Two is doubtful.", "not_enough_info", "expensive"),
        ("Three is wrong.", "not_enough_info", "cheap"),
        ("Four is doubtful too.", "supported", "expensive"),
    ]
    assert judgement.usage == Usage(input_tokens=10, calls=1, cost_usd=0.5)
    assert judgement.prompts == ("cheap-prompt", "expensive-prompt")
    assert judgement.reason_code is None
    assert judgement.risk == pytest.approx(0.98), "the claim that the cheap judge is sure is wrong"


async def test_a_clear_answer_costs_no_call() -> None:
    """Where the cheap judge is sure of everything its result stands, its calibrated risk included."""
    second = expensive()
    judgement = await run(cheap(), second, sure_unsupported_to=0.45, sure_supported_from=0.75)
    assert second.asked == []
    assert {verdict.judge for verdict in judgement.verdicts} == {"cheap"}
    assert judgement.risk == 0.33


async def test_what_the_cheap_judge_leaves_open_is_asked_about() -> None:
    """A claim without a verdict is as uncertain as can be."""
    first = TableJudge("cheap", dict.fromkeys((claim.text for claim in CLAIMS), None))
    second = TableJudge("expensive", dict.fromkeys((claim.text for claim in CLAIMS), 0.9))
    judgement = await run(first, second)
    assert {verdict.judge for verdict in judgement.verdicts} == {"expensive"}
    assert judgement.risk == pytest.approx(1 - 0.9**4), "derived from the verdicts where the judge gives none"


@pytest.mark.parametrize("parts", [2, 3])
async def test_claims_that_are_split_further_keep_their_place(parts: int) -> None:
    """The expensive judge may take a claim apart: its parts stand where the claim stood."""
    judgement = await run(cheap(), expensive(parts=parts))
    assert [v.claim.sentence_index for v in judgement.verdicts] == [0, *[1] * parts, 2, *[3] * parts]


@pytest.mark.parametrize("error", [RetryableError("busy"), PermanentError("no key")])
async def test_an_outage_leaves_the_cheap_verdicts(error: RagOtelError) -> None:
    """The result is weaker and says so, rather than absent."""
    judgement = await run(cheap(), expensive(fails=error))
    assert {verdict.judge for verdict in judgement.verdicts} == {"cheap"}
    assert [v.support_probability for v in judgement.verdicts] == [0.99, 0.8, 0.02, 0.4]
    assert judgement.reason_code == ReasonCode.JUDGE_ERROR
    assert str(error) in judgement.problems[0]


async def test_a_claim_that_the_expensive_judge_leaves_open_keeps_its_first_verdict() -> None:
    """One missing answer costs that claim the better judge, no more."""
    judgement = await run(cheap(), expensive(two=None, risk=0.2))
    assert [verdict.judge for verdict in judgement.verdicts] == ["cheap", "cheap", "cheap", "expensive"]
    assert judgement.verdicts[1].support_probability == 0.8
    assert judgement.reason_code == ReasonCode.INCOMPLETE


@given(
    probabilities=st.lists(
        st.one_of(st.none(), st.floats(min_value=0, max_value=1)), min_size=len(CLAIMS), max_size=len(CLAIMS)
    ),
    low=st.floats(min_value=0, max_value=0.49),
    high=st.floats(min_value=0.5, max_value=1),
)
async def test_every_claim_is_decided_exactly_once(probabilities: list[float | None], low: float, high: float) -> None:
    """Whatever the band: in order, none lost or doubled, and asked about if and only if it lies within."""
    first = TableJudge("cheap", dict(zip((claim.text for claim in CLAIMS), probabilities, strict=True)))
    second = TableJudge("expensive", dict.fromkeys((claim.text for claim in CLAIMS), 0.5))
    judgement = await run(first, second, sure_unsupported_to=low, sure_supported_from=high)
    assert tuple(verdict.claim for verdict in judgement.verdicts) == tuple(CLAIMS)
    uncertain = [p is None or low < p < high for p in probabilities]
    assert [verdict.judge == "expensive" for verdict in judgement.verdicts] == uncertain
    if any(uncertain):
        assert judgement.risk is not None
        assert 0 <= judgement.risk <= 1


async def test_what_the_cheap_judge_suspects_is_checked_by_the_expensive_one() -> None:
    """With the default band: no answer is called unfaithful on the cheap judge's word alone."""
    second = TableJudge("expensive", {"Two is doubtful.": 0.9, "Three is wrong.": 0.95, "Four is doubtful too.": 0.9})
    cascade = CascadeJudge(cheap=cheap(), expensive=second)
    judgement = await cascade.judge(question="?", chunks=CHUNKS, response=ANSWER, claims=CLAIMS)
    assert {verdict.verdict for verdict in judgement.verdicts} == {Verdict.SUPPORTED}


async def test_the_result_names_both_judges() -> None:
    """Another band or another judge is another measurement."""
    anything = ""
    judge = CascadeJudge(cheap=EmbeddedJudge(), expensive=TableJudge("expensive", {anything: 0.7}))
    result = await Faithfulness(judge=judge).evaluate(
        question=None,
        chunks=["The tower is 330 metres high."],
        response="The tower is 330 metres high. It was painted by nobody in particular, and doubtful is that too.",
    )
    assert result.judge == "cascade(embedded,expensive)"
    assert "[0-0.97]" in result.version
    assert CascadeJudge(cheap=cheap(), expensive=expensive(), sure_unsupported_to=0.2).version != judge.version


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.9, 0.1), (-0.1, 0.5), (0.1, 1.5)])
def test_an_impossible_band_is_refused(low: float, high: float) -> None:
    """The message names both bounds."""
    with pytest.raises(ConfigurationError, match="sure_unsupported_to < sure_supported_from"):
        CascadeJudge(cheap=cheap(), expensive=expensive(), sure_unsupported_to=low, sure_supported_from=high)


async def test_what_the_expensive_judge_settles_needs_no_reason() -> None:
    """The cheap one may not read the answer's language; the other does, and nothing is left open."""
    nothing = TableJudge("cheap", dict.fromkeys(["clear.", "doubtful.", "wrong.", "too."]))
    everything = TableJudge("expensive", dict.fromkeys(["clear.", "doubtful.", "wrong.", "too."], 0.99))
    judge = CascadeJudge(cheap=nothing, expensive=everything)
    result = await judge.judge(question=None, chunks=CHUNKS, response=ANSWER, claims=CLAIMS)
    assert result.reason_code is None
    assert {verdict.verdict for verdict in result.verdicts} == {Verdict.SUPPORTED}
