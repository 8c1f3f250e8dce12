"""Faithfulness judged by a language model over the wire: what it gets wrong must not become a score."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.model import Chunk, Evaluation, ReasonCode, Usage, Verdict
from rag_otel_evaluators.judges.judge import Judge
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.llm.client import CallOptions
from rag_otel_evaluators.llm.parsing import read_answer
from rag_otel_evaluators.llm.rate_limits import RateLimits
from rag_otel_evaluators.llm.structured import Completion, Message, T
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.metrics.registry import build
from rag_otel_evaluators.metrics.setup import MetricSetup
from testkit.judge_server import (
    Changed,
    Hang,
    JudgeRequest,
    JudgeServer,
    RateLimited,
    ServerError,
    Truncated,
    doubled_item,
    dropped_item,
    wrong_ids,
)
from testkit.size import examples
from testkit.when_used import llm_model, warm_up
from testkit.word_overlap_judge import answer as oracle
from testkit.word_overlap_judge import fields_of, items_of

pytestmark = pytest.mark.usefixtures("litellm_is_loaded")

DATA = Path(__file__).parents[3] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
CHUNKS = [
    Chunk(id="tower", text="The Eiffel Tower was completed in 1889.  It is 330 metres tall.", position=0),
    Chunk(id="blank", text="  ", position=1),
    Chunk(id="paris", text="Paris is the capital of France.", position=2),
]
RESPONSE = "The tower was completed in 1889. It is 330 metres tall. Paris is the capital of France. It has ten lifts."
QUESTION = "Tell me about the tower."


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=oracle) as running:
        yield running


def judge_at(server: JudgeServer, *, timeout_s: float = 60.0, **options: Any) -> LlmJudge:
    retry = RetryPolicy(attempts=2, base_s=0.01)
    return LlmJudge(model=llm_model("openai/judge", api_base=server.url, timeout_s=timeout_s, retry=retry), **options)


async def evaluate(judge: LlmJudge, chunks: Sequence[Chunk | str] = CHUNKS, response: str = RESPONSE) -> Evaluation:
    return await Faithfulness(judge=judge).evaluate(question=QUESTION, chunks=chunks, response=response)


def verdicts_of(result: Evaluation) -> list[Verdict]:
    return [claim.verdict for claim in result.claims]


def asked_claims(request: JudgeRequest) -> list[str]:
    return list(items_of(fields_of(request)["claims"]).values())


S, N, U = Verdict.SUPPORTED, Verdict.NOT_ENOUGH_INFO, Verdict.UNJUDGED


async def test_one_call_gives_verdicts_with_verbatim_quotes(server: JudgeServer) -> None:
    """Score, risk, label, chunk ids, quotes, reasons and cost from a single structured call."""
    judge = judge_at(server)
    assert isinstance(judge, Judge)
    result = await evaluate(judge)
    assert verdicts_of(result) == [S, S, S, N]
    assert result.score == 0.75
    assert result.risk == pytest.approx(0.9)
    assert result.label == "unfaithful"
    assert [claim.chunk_ids for claim in result.claims] == [("tower",), ("tower",), ("paris",), ()]
    assert [quote.text for claim in result.claims for quote in claim.quotes] == [
        "The Eiffel Tower was completed in 1889.",
        "It is 330 metres tall.",
        "Paris is the capital of France.",
    ]
    assert all(claim.explanation for claim in result.claims)
    assert result.judge == "openai/judge"
    assert result.usage is not None
    assert result.usage.calls == len(server.requests) == 1
    assert server.requests[0].body["max_tokens"] == 60 * 4 + 200


async def test_a_faithful_answer_has_a_low_risk_however_many_claims_it_has(server: JudgeServer) -> None:
    """A judge's usual 0.95 must not add up to a false alarm."""
    sentences = [f"Fact number {i} is true." for i in range(20)]
    result = await evaluate(judge_at(server), chunks=sentences, response=" ".join(sentences))
    assert result.score == 1.0
    assert result.risk == pytest.approx(0.05)
    assert result.label == "faithful"


async def test_the_reading_is_asked_for_and_visible(server: JudgeServer) -> None:
    """Strict and lenient are two measurements: in the prompt, and in the version on the result."""
    strict = await evaluate(judge_at(server))
    lenient = await evaluate(judge_at(server, reading="lenient"))
    assert [fields_of(request)["reading"] for request in server.requests] == ["strict", "lenient"]
    assert "single-strict" in strict.version
    assert "single-lenient" in lenient.version
    assert strict.prompts == lenient.prompts != ()


async def test_it_is_what_the_metric_s_name_gives_where_the_judge_is_a_model(server: JudgeServer) -> None:
    """`faithfulness` and a model are all that a configuration names."""
    judge = judge_at(server)
    (metric,) = build(["faithfulness"], MetricSetup(judge=judge.model))
    result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.score == 0.75
    assert metric.version == Faithfulness(judge=judge).version


async def test_prompts_speak_the_language(server: JudgeServer) -> None:
    """The Spanish prompt is asked, and stands on the result."""
    result = await evaluate(judge_at(server, language="es"))
    assert result.prompts[0].startswith("faithfulness/es@")


async def test_ids_that_do_not_exist_are_asked_about_once_more(server: JudgeServer) -> None:
    """`supported` by nothing that exists is no verdict yet; the second answer counts."""
    server.fail_next(Changed(wrong_ids))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, S, N]
    assert asked_claims(server.requests[1]) == asked_claims(server.requests[0])[:3]


async def test_ids_that_do_not_exist_are_removed_and_recorded(server: JudgeServer) -> None:
    """`supported` by nothing that exists, twice, is neither support nor its lack."""
    server.fail_next(Changed(wrong_ids), Changed(wrong_ids))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [U, U, U, N]
    assert result.reason_code == ReasonCode.INCOMPLETE
    assert result.claims[0].quotes == ()
    assert "c99.s99" in (result.claims[0].explanation or "")
    assert result.claims[0].support_probability is None


async def test_one_wrong_id_among_good_ones_costs_only_itself(server: JudgeServer) -> None:
    """The verdict stays, on the evidence that exists; an id of a whole chunk or in brackets is understood."""
    server.answer = lambda request: {
        "verdicts": [
            {"claim": 0, "evidence": ["c7.s0", "[c0.s0]"], "reason": "r", "verdict": "Supported"},
            {"claim": 1, "evidence": ["c0", "c1", "c0.s9"], "reason": "r", "verdict": "supported", "confidence": "?"},
            {"claim": 2, "evidence": "c2.s0", "verdict": "not enough info", "confidence": 7},
            {"claim": 3, "evidence": "(c0.s1)", "verdict": "CONTRADICTED"},
        ]
    }
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, N, Verdict.CONTRADICTED]
    assert result.claims[0].quotes[0].text == "The Eiffel Tower was completed in 1889."
    assert result.claims[1].chunk_ids == ("tower",)
    assert "c1, c0.s9" in (result.claims[1].explanation or "")
    assert len(server.requests) == 1


async def test_only_what_is_missing_is_asked_again(server: JudgeServer) -> None:
    """A truncated answer keeps its complete verdicts; the second call is about the rest alone."""
    server.fail_next(Truncated(0.6))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, S, N]
    first, second = (asked_claims(request) for request in server.requests)
    assert 0 < len(second) < len(first)
    assert second == first[-len(second) :]
    assert result.usage is not None
    assert result.usage.calls == 2


async def test_a_dropped_claim_is_asked_again_once_and_then_unjudged(server: JudgeServer) -> None:
    """The denominator is known beforehand: the claim is not forgotten, nor taken for supported or not."""
    server.fail_next(Changed(dropped_item), Changed(dropped_item))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, S, U]
    assert result.score == 1.0
    assert result.reason_code == ReasonCode.INCOMPLETE
    assert asked_claims(server.requests[1]) == ["It has ten lifts."]
    assert len(server.requests) == 2


async def test_a_doubled_claim_counts_once(server: JudgeServer) -> None:
    """Said twice in agreement it is one verdict; in disagreement it is asked again."""
    server.fail_next(Changed(doubled_item))
    assert verdicts_of(await evaluate(judge_at(server))) == [S, S, S, N]
    assert len(server.requests) == 1

    def disagreeing(said: Any) -> Any:
        return {"verdicts": [*said["verdicts"], {**said["verdicts"][0], "verdict": "contradicted"}]}

    server.fail_next(Changed(disagreeing))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, S, N]
    assert asked_claims(server.requests[-1]) == ["The tower was completed in 1889."]
    assert "disagree" in (result.explanation or "")


async def test_an_invented_claim_spoils_its_response(server: JudgeServer) -> None:
    """Who gives a verdict on claim 17 of 4 may have miscounted before: all claims are asked about again."""
    invented = {"claim": 17, "evidence": [], "reason": "", "verdict": "supported"}
    server.fail_next(Changed(lambda said: {"verdicts": [*said["verdicts"], invented]}))
    result = await evaluate(judge_at(server))
    assert result.score == 0.75
    assert len(result.claims) == 4
    assert "17" in (result.explanation or "")
    assert asked_claims(server.requests[1]) == asked_claims(server.requests[0])


def counted_from_one(said: Any) -> Any:
    return {"verdicts": [{**each, "claim": each["claim"] + 1} for each in said["verdicts"]]}


async def test_a_judge_that_counts_claims_from_one_shifts_no_verdict(server: JudgeServer) -> None:
    """ "It has ten lifts" is not supported by the evidence of the claim after it."""
    server.answer = lambda request: counted_from_one(oracle(request))
    result = await evaluate(judge_at(server), response=f"It has ten lifts. {RESPONSE}")
    assert verdicts_of(result) == [N, S, S, S, N]
    assert result.claims[1].quotes[0].text == "The Eiffel Tower was completed in 1889."
    assert len(server.requests) == 1


async def test_a_judge_that_counts_from_one_and_leaves_a_claim_out_is_asked_again(server: JudgeServer) -> None:
    """1, 2, 3 of four claims may be the last three, or the first three counted from 1."""
    server.fail_next(Changed(lambda said: dropped_item(counted_from_one(said))))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, S, N]
    assert asked_claims(server.requests[1]) == asked_claims(server.requests[0])


async def test_numbers_that_do_not_tell_leave_every_claim_unjudged(server: JudgeServer) -> None:
    """Twice: rather no verdict than another claim's."""
    shifted = Changed(lambda said: dropped_item(counted_from_one(said)))
    server.fail_next(shifted, shifted)
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [U, U, U, U]
    assert (result.score, result.reason_code) == (None, ReasonCode.PARSE_ERROR)


async def test_a_first_verdict_that_cannot_be_read_costs_itself_alone(server: JudgeServer) -> None:
    """Its number shows that the others are counted from 0."""

    def unreadable(said: Any) -> Any:
        first, *others = said["verdicts"]
        return {"verdicts": [{**first, "verdict": "who knows"}, *others]}

    server.fail_next(Changed(unreadable))
    assert verdicts_of(await evaluate(judge_at(server))) == [S, S, S, N]
    assert asked_claims(server.requests[1]) == ["The tower was completed in 1889."]


@pytest.mark.parametrize(
    "ids", [["c1.s0", "c2.s0", "c3.s0", "c1"], ["1", "2", "3", "1"], ["c0.s1", "c0.s2", "c2.s1", "c0.s1"]]
)
async def test_evidence_counted_from_one_is_asked_again(server: JudgeServer, ids: list[str]) -> None:
    """Chunk 3 of 3, or sentence 2 of 2, and never a 0: the ids that exist are not those that are meant."""
    numbers = iter(ids)

    def shifted(said: Any) -> Any:
        return {
            "verdicts": [{**each, "verdict": "supported", "evidence": [next(numbers)]} for each in said["verdicts"]]
        }

    server.fail_next(Changed(shifted))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, S, N]
    assert [claim.chunk_ids for claim in result.claims] == [("tower",), ("tower",), ("paris",), ()]


async def test_what_cannot_be_read_at_all_is_null_with_its_cost(server: JudgeServer) -> None:
    """No score, a reason, and the tokens that were paid."""
    server.answer = lambda request: "As an AI, I cannot judge."
    result = await evaluate(judge_at(server))
    assert (result.score, result.risk, result.label) == (None, None, None)
    assert result.reason_code == ReasonCode.PARSE_ERROR
    assert verdicts_of(result) == [U, U, U, U]
    assert result.usage is not None
    assert result.usage.output_tokens > 0


@pytest.mark.parametrize("fault", [RateLimited(), ServerError(500), Hang()])
async def test_a_judge_that_is_down_raises_what_can_be_tried_again(server: JudgeServer, fault: Any) -> None:
    """The pipeline makes it a failed evaluation; nothing is scored."""
    server.fail_next(*[fault] * 5)
    with pytest.raises(RetryableError):
        await evaluate(judge_at(server, timeout_s=1))


async def test_a_wrong_key_raises_what_cannot(server: JudgeServer) -> None:
    """And is told at once."""
    server.fail_next(ServerError(401))
    with pytest.raises(PermanentError):
        await evaluate(judge_at(server))


async def test_a_failure_while_asking_again_keeps_what_is_known(server: JudgeServer) -> None:
    """Three verdicts of four are not thrown away."""
    server.fail_next(Changed(dropped_item), ServerError(500), ServerError(500))
    result = await evaluate(judge_at(server))
    assert verdicts_of(result) == [S, S, S, U]
    assert result.reason_code == ReasonCode.INCOMPLETE
    assert "asking again failed" in (result.explanation or "")


async def test_of_a_very_long_answer_the_first_claims_are_judged(server: JudgeServer) -> None:
    """One call with the evidence once; the other claims are unjudged for a reason, and it is never called faithful."""
    sentences = [f"Fact number {i} is true." for i in range(400)]
    result = await evaluate(judge_at(server), chunks=sentences, response=" ".join(sentences))
    assert [claim.claim.text for claim in result.claims] == sentences
    assert verdicts_of(result) == [S] * 60 + [U] * 340
    assert len(server.requests) == 1
    assert (result.score, result.label, result.reason_code) == (1.0, None, ReasonCode.TOO_LONG)


async def test_how_many_claims_are_judged_is_a_setting(server: JudgeServer) -> None:
    """And an unsupported one among them makes the answer unfaithful, whatever the others are."""
    result = await evaluate(judge_at(server, most_claims=2), response="It has ten lifts. It is red. It is tall.")
    assert verdicts_of(result)[2] is U
    assert result.label == "unfaithful"


async def test_with_a_fifth_of_faults_every_row_has_a_score_or_a_reason() -> None:
    """Limits, errors, hangs, broken connections, truncated JSON and wrong ids, over real answers."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()[:60]]
    with JudgeServer(answer=oracle, fault_share=0.2, seed=1) as server:
        # An answer must not take as long as a hang, on a machine that is busy too: several would open the breaker.
        warm_up("openai/judge")
        options: CallOptions = {"timeout_s": 3, "limits": RateLimits(concurrency=4), "retry": RetryPolicy(base_s=0.01)}
        metric = Faithfulness(judge=LlmJudge(model=llm_model("openai/judge", api_base=server.url, **options)))

        async def evaluated(row: dict[str, Any]) -> bool:
            try:
                result = await metric.evaluate(
                    question=row["question"], chunks=row["contexts"], response=row["response"]
                )
            except RetryableError as error:
                return bool(str(error))
            return result.score is not None or result.reason_code is not None

        assert all(await asyncio.gather(*(evaluated(row) for row in rows)))
        assert len(server.requests) > len(rows)


class Says:
    """A `StructuredModel` that always says the same."""

    name = "says"

    def __init__(self, text: str) -> None:
        self.text = text

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        reading = read_answer(self.text, response_model)
        return Completion(value=reading.value, raw=self.text, usage=Usage(calls=1), problems=reading.problems)


ids = st.sampled_from(["c0.s0", "c0.s1", "c1.s0", "c1", "c2", "c2.s0", "c9.s9", "[c0.s0]", "-1", "", "c0.s-1"])
verdicts = st.fixed_dictionaries(
    {
        "claim": st.integers(-1, 5),
        "verdict": st.sampled_from(["supported", "contradicted", "not_enough_info", "maybe"]),
    },
    optional={
        "evidence": st.lists(ids, max_size=4) | st.none() | ids,
        "reason": st.text(max_size=5),
        "confidence": st.floats() | st.none() | st.text(max_size=3),
    },
)


@given(st.lists(verdicts, max_size=8), st.lists(st.text(max_size=60), max_size=3))
@settings(max_examples=examples(200), deadline=None)
def test_whatever_is_said_the_result_holds_together(said: list[dict[str, Any]], texts: list[str]) -> None:
    """No NaN, scores and risks within 0..1, every quote a verbatim slice, every chunk id an existing one."""
    chunks = [*CHUNKS, *(Chunk(id=f"x{i}", text=text, position=3 + i) for i, text in enumerate(texts))]
    by_id = {chunk.id: chunk for chunk in chunks}
    model = Says(json.dumps({"verdicts": said}))
    result = Faithfulness(judge=LlmJudge(model=model)).evaluate_sync(
        question=QUESTION, chunks=chunks, response=RESPONSE
    )
    assert len(result.claims) == 4
    assert (result.score is None) == (result.judged_claims == 0)
    for claim in result.claims:
        assert claim.support_probability is None or 0.0 <= claim.support_probability <= 1.0
        assert set(claim.chunk_ids) <= by_id.keys()
        assert claim.verdict is not Verdict.SUPPORTED or claim.chunk_ids
        for quote in claim.quotes:
            assert quote.text == by_id[quote.chunk_id].text[quote.start : quote.end]
