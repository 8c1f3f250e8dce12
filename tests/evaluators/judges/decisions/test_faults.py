"""Nothing becomes a pass by accident: whatever a server does, each claim has a status, a cost and a bound of calls."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.model import Chunk, Evaluation, Verdict
from rag_otel_evaluators.judges.decision_model import limits_of
from rag_otel_evaluators.judges.decisions import DecisionJudge
from rag_otel_evaluators.llm.decisions.providers import RequestLimits
from rag_otel_evaluators.llm.memory_cache import MemoryCache
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.decision_server import DecisionServer, Question, by_words, sure
from tests.evaluators.judges.decisions.kit import ANSWER, CHUNKS, CLAIMS, KEY, OPENAI, QUESTION, SYSTEM_ONE, metric_at

OPENROUTER = "decisions/openrouter/typesafe/jev-1.13"
TRUE = " ".join(["Pro costs 20 dollars a month.", "It is sold in Berlin."])
Change = Callable[[dict[str, Any]], Any]


async def judged(metric: Faithfulness, response: str = ANSWER, chunks: Any = CHUNKS) -> Evaluation:
    return await metric.evaluate(question=QUESTION, chunks=chunks, response=response)


def of_first(change: Callable[[dict[str, Any]], None]) -> Change:
    """Changes the answer about the first claim, in System One's form."""

    def changed(answer: dict[str, Any]) -> dict[str, Any]:
        change(answer["answers"]["k0"])
        return answer

    return changed


def without_first(answer: dict[str, Any]) -> dict[str, Any]:
    del answer["answers"]["k0"]
    return answer


def probabilities(supported: Any, contradicted: Any, not_stated: Any) -> Change:
    values = {"supported": supported, "contradicted": contradicted, "not_stated": not_stated}
    return of_first(lambda answer: answer.update(probabilities=values))


ODD: dict[str, tuple[Change, str]] = {
    "missing": (without_first, "got no answer"),
    "nan": (probabilities(float("nan"), 0.0, 0.0), "no number"),
    "above_one": (probabilities(1.2, 0.0, 0.0), "no number"),
    "below_zero": (probabilities(1.1, -0.1, 0.0), "no number"),
    "text": (probabilities("high", "low", "low"), "no number"),
    "true": (probabilities(True, False, False), "no number"),
    "sum_above": (probabilities(0.94, 0.1, 0.0), "sum to 1.04"),
    "sum_below": (probabilities(0.94, 0.0, 0.0), "sum to 0.94"),
    "none_at_all": (of_first(lambda answer: answer.pop("probabilities")), "other options"),
    "no_object": (of_first(lambda answer: answer.update(probabilities=0.97)), "other options"),
    "option_missing": (of_first(lambda answer: answer["probabilities"].pop("not_stated")), "other options"),
    "option_unknown": (of_first(lambda answer: answer["probabilities"].update(maybe=0.0)), "other options"),
    "another_type": (of_first(lambda answer: answer.update(type="noul", noul=0.99)), "other options"),
    "refusal": (of_first(lambda answer: (answer.clear(), answer.update(type="refusal"))[0]), "refused by the model"),
}


@pytest.mark.parametrize("case", ODD)
async def test_a_claim_without_a_distribution_is_unjudged(server: DecisionServer, case: str) -> None:
    """The other claims are judged, the answer is never called faithful, and nothing is asked twice."""
    server.change, said = ODD[case]
    result = await judged(metric_at(server.url), TRUE)
    assert [claim.verdict for claim in result.claims] == [Verdict.UNJUDGED, Verdict.SUPPORTED]
    assert said in str(result.claims[0].explanation)
    assert (result.label, result.reason_code) == (None, "incomplete")
    assert len(server.bodies) == 1
    assert result.usage is not None
    assert result.usage.calls == 1


def nameless(answer: dict[str, Any]) -> None:
    answer["answers"][0]["name"] = None


def doubled(answer: dict[str, Any]) -> None:
    answer["answers"].append({**answer["answers"][0], "probabilities": []})


@pytest.mark.parametrize(("change", "said"), [(nameless, "got no answer"), (doubled, "answered twice")])
async def test_answers_are_matched_by_name_alone(server: DecisionServer, change: Any, said: str) -> None:
    """In OpenAI's form names are optional and answers a list: one without its name belongs to nobody."""
    server.change = lambda answer: (change(answer), answer)[1]
    result = await judged(metric_at(server.url, OPENAI), TRUE)
    assert [claim.verdict for claim in result.claims] == [Verdict.UNJUDGED, Verdict.SUPPORTED]
    assert said in str(result.claims[0].explanation)


async def test_the_order_of_answers_does_not_matter(server: DecisionServer) -> None:
    """Reordered, and with an answer nobody asked for."""

    def reordered(answer: dict[str, Any]) -> dict[str, Any]:
        unasked = {"type": "predicate", "name": "other", "probability": 1.0}
        return {**answer, "answers": [unasked, *reversed(answer["answers"])]}

    plain = await judged(metric_at(server.url, OPENAI))
    server.change = reordered
    assert (await judged(metric_at(server.url, OPENAI))).claims == plain.claims


async def test_sums_that_rounding_explains_are_made_one(server: DecisionServer) -> None:
    """Two decimals: .97 to 1.03."""
    server.change = probabilities(0.93, 0.02, 0.02)
    (claim, _) = (await judged(metric_at(server.url), TRUE)).claims
    assert claim.support_probability == pytest.approx(0.93 / 0.97)


async def test_a_refused_question_costs_itself_alone(server: DecisionServer) -> None:
    """OpenAI refuses question by question; an answer of which all are refused has that reason."""
    server.decide = lambda state, question: "refuse" if "30" in question.instructions else by_words(state, question)
    result = await judged(metric_at(server.url, OPENAI))
    assert [claim.verdict for claim in result.claims][1] is Verdict.UNJUDGED
    assert result.reason_code == "incomplete"
    server.decide = lambda state, question: "refuse" if question.claim else by_words(state, question)
    result = await judged(metric_at(server.url, OPENAI))
    assert (result.score, result.label, result.reason_code) == (None, None, "refused")


async def test_a_filter_that_answers_nothing_gives_no_verdict(server: DecisionServer) -> None:
    """No answers at all, and a bill."""
    server.change = lambda answer: {**answer, "answers": {}, "prompt_feedback": {"block_reason": "SAFETY"}}
    result = await judged(metric_at(server.url, judge={"check_end": False}), TRUE)
    assert (result.score, result.label, result.reason_code) == (None, None, "parse_error")
    assert result.usage is not None
    assert result.usage.input_tokens > 0
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [429, 529, 503])
async def test_a_busy_server_is_asked_again_as_it_says(server: DecisionServer, status: int) -> None:
    """Refused calls cost nothing; the pause is the server's."""
    body = json.dumps({"detail": {"error_type": "rate_limit_error", "message": "slow down"}})
    server.fail_next((status, {"retry-after-ms": "5"}, body), (status, {"retry-after": "0"}, body))
    result = await judged(metric_at(server.url))
    assert result.score is not None
    assert len(server.bodies) == 3
    assert result.usage is not None
    assert result.usage.calls == 1


async def test_a_request_that_is_refused_is_not_repeated(server: DecisionServer) -> None:
    """422 as FastAPI says it, and 400: the words are kept, the texts are not."""
    detail = [{"loc": ["body", "questions", "k0"], "msg": "Input should be a valid string", "input": CLAIMS[0]}]
    server.fail_next((422, {}, json.dumps({"detail": detail})))
    with pytest.raises(PermanentError, match=r"request: HTTP 422: body.questions.k0: Input should be a valid string$"):
        await judged(metric_at(server.url))
    error = {"error_type": "max_tokens_exceeded", "message": f"too long: {CHUNKS[0]} {KEY}"}
    server.fail_next((400, {}, json.dumps({"detail": error})))
    with pytest.raises(PermanentError, match="max_tokens_exceeded") as raised:
        await judged(metric_at(server.url))
    assert not any(secret in str(raised.value) for secret in ("Berlin", KEY))
    assert len(server.bodies) == 2


@pytest.mark.parametrize("said", ["<html>Welcome</html>", "{}", '{"answers": 3}', '[{"answers": []}]', ""])
async def test_what_is_no_decision_is_an_error(server: DecisionServer, said: str) -> None:
    """A page, an object of another form, nothing: never a verdict, and a bound of calls."""
    server.fail_next(*[(200, {}, said)] * 9)
    with pytest.raises(RetryableError, match="no decision"):
        await judged(metric_at(server.url))
    assert len(server.bodies) == 1


async def test_a_refusal_that_fails_the_whole_request_is_halved_once(server: DecisionServer) -> None:
    """OpenRouter: the half with the refused claim is refused again and stays unjudged, the other one is judged."""
    refusal = (502, {}, json.dumps({"error": {"code": 502, "message": "Provider refused to answer a question"}}))
    server.fail_next(refusal, None, refusal)
    response = " ".join([*CLAIMS, "Free costs nothing."])
    result = await judged(metric_at(server.url, OPENROUTER), response)
    assert len(server.bodies) == 3
    verdicts = [claim.verdict for claim in result.claims]
    assert verdicts == [Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNJUDGED, Verdict.UNJUDGED]
    assert (result.reason_code, result.label) == ("incomplete", "unfaithful")
    asked = [set(body["questions"]) for body in server.bodies]
    assert asked[0] == asked[1] | asked[2]
    assert asked[1] & asked[2] == {"end_of_text"}


async def test_an_outage_at_openrouter_is_no_refusal(server: DecisionServer) -> None:
    """502 for another reason is retried as it is."""
    server.fail_next((502, {}, json.dumps({"error": {"code": 502, "message": "Provider returned error"}})))
    result = await judged(metric_at(server.url, OPENROUTER))
    assert result.reason_code is None
    assert server.bodies[0] == server.bodies[1]


async def test_a_state_that_was_cut_silently_is_noticed(
    server: DecisionServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Its verdicts do not count, it is told, a cache does not keep them, and the model is believed again later."""
    cache = MemoryCache()
    metric = metric_at(server.url, cache=cache)
    server.reads = 100
    with caplog.at_level(logging.WARNING):
        result = await judged(metric, TRUE)
    assert (result.score, result.label, result.reason_code) == (None, None, "state_cut")
    assert all("did not see all of the text" in str(claim.explanation) for claim in result.claims)
    assert "did not read the text that it was sent to its end" in caplog.text
    server.reads = None
    again = await judged(metric, TRUE)
    assert (again.label, again.reason_code) == ("faithful", None)
    assert len(server.bodies) == 2
    cached = await judged(metric, TRUE)
    assert cached.usage is not None
    assert (cached.usage.calls, cached.usage.cached_calls) == (0, 1)
    assert len(server.bodies) == 2


def small(questions: int = 400, state: int = 90_000, request: int = 190_000) -> dict[str, Any]:
    return {"limits": RequestLimits(questions=questions, state=state, request=request)}


async def test_many_claims_are_split_at_the_limit_of_questions(server: DecisionServer) -> None:
    """One answer in as few requests as hold it, all at once; the verdicts are those of one request."""
    response = " ".join(f"Pro costs {number} dollars a month." for number in range(15, 25))
    whole = await judged(metric_at(server.url), response)
    server.bodies.clear()
    split = await judged(metric_at(server.url, judge=small(questions=9)), response)
    assert [claim.verdict for claim in split.claims] == [claim.verdict for claim in whole.claims]
    assert len(split.claims) == 10
    assert sorted(len(body["questions"]) for body in server.bodies) == [5, 9, 9]
    assert split.usage is not None
    assert split.usage.calls == 3


async def test_a_part_that_fails_costs_its_own_claims(server: DecisionServer) -> None:
    """What was judged stays, and the reason says that something is missing."""
    server.fail_next((400, {}, "{}"))
    result = await judged(metric_at(server.url, judge=small(questions=3)), TRUE)
    assert sorted(claim.verdict for claim in result.claims) == [Verdict.SUPPORTED, Verdict.UNJUDGED]
    assert (result.label, result.reason_code) == (None, "incomplete")
    assert "a part of the claims was not judged" in str(result.explanation)


async def test_passages_that_do_not_fit_are_left_out_and_said_to_be(server: DecisionServer) -> None:
    """The least related go first; of a single one that is too long the beginning stays."""
    chunks = [Chunk(id=f"x{n}", text=f"Whales sing {n}. " * 50, position=n) for n in range(5)]
    pro = Chunk(id="pro", text=CHUNKS[0], position=5)
    result = await judged(metric_at(server.url, judge=small(state=4_000)), CLAIMS[0], [*chunks, pro])
    (body,) = server.bodies
    assert list(body["state"]["passages"].values())[-1] == pro.text
    assert len(body["state"]["passages"]) == 3
    assert result.claims[0].chunk_ids == ("pro",)
    assert result.reason_code == "too_long"
    assert "3 of 6 passages do not fit" in str(result.explanation)
    long = Chunk(id="long", text=CHUNKS[0] + " Ünd more." * 1_000, position=0)
    result = await judged(metric_at(server.url, judge=small(state=4_000)), CLAIMS[0], [long])
    assert result.claims[0].quotes[0].text == CLAIMS[0]
    assert result.reason_code == "too_long"


async def test_no_more_claims_are_judged_than_may_be(server: DecisionServer) -> None:
    """The rest is unjudged, and what an answer can cost stays within the bound."""
    metric = metric_at(server.url, judge={"most_claims": 2})
    result = await judged(metric)
    assert [claim.verdict for claim in result.claims][2] is Verdict.UNJUDGED
    assert result.reason_code == "too_long"
    for model in (OPENAI, SYSTEM_ONE, OPENROUTER):
        judge = metric_at(server.url, model).judge
        assert isinstance(judge, DecisionJudge)
        assert judge.most_calls <= {OPENAI: 1, SYSTEM_ONE: 5, OPENROUTER: 3}[model], limits_of(model)


@pytest.mark.parametrize(
    ("supported", "verdict"),
    [
        (0.71, Verdict.SUPPORTED),
        (0.69, Verdict.NOT_ENOUGH_INFO),
        (0.5, Verdict.NOT_ENOUGH_INFO),
        (0.3, Verdict.CONTRADICTED),
    ],
)
async def test_doubt_is_no_support(server: DecisionServer, supported: float, verdict: Verdict) -> None:
    """Between .35 and .7 nothing is called supported."""
    server.decide = lambda state, question: _relation(supported, state, question)
    (claim,) = (await judged(metric_at(server.url), CLAIMS[0])).claims
    assert claim.verdict is verdict
    assert claim.support_probability == pytest.approx(supported)
    assert ("in doubt" in str(claim.explanation)) == (0.35 < supported < 0.7)


def _relation(supported: float, state: Mapping[str, Any], question: Question) -> Mapping[str, float] | str:
    if "supported" not in question.options:
        return by_words(state, question)
    return {"supported": supported, "contradicted": 1 - supported, "not_stated": 0.0}


async def test_evidence_that_the_model_does_not_name_is_found_by_words_and_marked(server: DecisionServer) -> None:
    """Below one half the passage is ours, and the explanation says so."""

    def decide(state: Mapping[str, Any], question: Question) -> Mapping[str, float] | str:
        if "c0" in question.options:
            return {"c0": 0.3, "c1": 0.4, "none": 0.3}
        return by_words(state, question) if question.claim is None else sure(question.options, "supported")

    server.decide = decide
    (claim,) = (await judged(metric_at(server.url), CLAIMS[0])).claims
    assert claim.chunk_ids == ("0",)
    assert claim.quotes[0].text == CLAIMS[0]
    assert "Evidence found by words" in str(claim.explanation)
