"""The form in which a judge names its evidence never decides a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rag_otel.model import Chunk, Evaluation, ReasonCode
from rag_otel_evaluators.judges.llm_evidence import number_evidence
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import JudgeServer
from testkit.when_used import llm_model

pytestmark = pytest.mark.usefixtures("litellm_is_loaded")

TOWER = "The tower is 330 metres tall. It was completed in 1889."
OTHER = "Chunk 7 of the fence was painted in 1990. C4 is a key on the piano in the hall."


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


async def evaluate(server: JudgeServer, evidence: Any, **options: Any) -> Evaluation:
    """One claim, called supported with this evidence every time."""
    verdict = {"claim": 0, "evidence": evidence, "reason": "Said.", "verdict": "supported", "confidence": 0.9}
    server.answer = lambda request: {"verdicts": [verdict]}
    judge = LlmJudge(model=llm_model("openai/judge", api_base=server.url), **options)
    return await Faithfulness(judge=judge).evaluate(
        question="How tall?", chunks=[TOWER, OTHER], response="The tower is 330 metres tall."
    )


@pytest.mark.parametrize(
    ("evidence", "quoted"),
    [
        (["c0.s0, c0.s1"], 2),
        ("c0.s0; c0.s1", 2),
        (["(c0.s1)"], 1),
        (["c0s1"], 1),
        (["c0 s0"], 1),
        (["c0.s0-s1"], 2),
        (["c0.s0-c0.s1"], 2),
        (["[c0.s0][c0.s1]"], 2),
        (["c0.s0: The tower is 330 metres"], 1),
        (["chunk 0"], 0),
        (["Chunk 0, sentence 1"], 1),
        ([0], 0),
        ([{"chunk": 0, "sentence": 1}], 1),
        (["The tower is 330 metres tall."], 1),
        (["the tower is 330 metres  tall"], 1),
        ([TOWER], 2),
        (["The tower is 330 metres tall, it was completed in 1889"], 2),
    ],
)
async def test_evidence_is_read_in_any_form(server: JudgeServer, evidence: Any, quoted: int) -> None:
    """Lists in one string, brackets, ranges, whole chunks, copied quotes: the verdict stands after one call."""
    result = await evaluate(server, evidence)
    assert result.score == 1.0
    assert result.claims[0].chunk_ids == ("0",)
    assert len(result.claims[0].quotes) == quoted
    assert all(quote.text == TOWER[quote.start : quote.end] for quote in result.claims[0].quotes)
    assert len(server.requests) == 1


@pytest.mark.parametrize("evidence", [[], None, ["c9.s9"], ["The tower is 999 metres tall."], ["s"], ["because"]])
async def test_support_by_nothing_is_asked_about_again_and_then_unjudged(server: JudgeServer, evidence: Any) -> None:
    """Neither 0.0, which pages somebody, nor 1.0, which nobody checked."""
    result = await evaluate(server, evidence)
    assert (result.score, result.label, result.reason_code) == (None, None, ReasonCode.PARSE_ERROR)
    assert len(server.requests) == 2
    assert "named no evidence" in (result.claims[0].explanation or "")


async def test_a_quote_that_looks_like_an_id_is_found_where_it_stands(server: JudgeServer) -> None:
    """`C4` is a key here, and not chunk 4; "Chunk 7" is a fence."""
    for sentence in ("Chunk 7 of the fence was painted in 1990.", "C4 is a key on the piano in the hall."):
        result = await evaluate(server, [sentence])
        assert [quote.text for quote in result.claims[0].quotes] == [sentence]


async def test_the_schema_of_each_call_lists_the_ids_that_exist(server: JudgeServer) -> None:
    """A provider that takes schemas cannot be given another id, nor another claim."""
    await evaluate(server, ["c0.s0"])
    schema = server.requests[0].schema
    assert schema is not None
    fields = schema["$defs"]["ClaimAnswer"]["properties"]
    assert fields["evidence"]["items"]["enum"] == ["c0.s0", "c0.s1", "c1.s0", "c1.s1"]
    assert fields["claim"]["enum"] == [0]


async def test_a_repeat_is_another_request(server: JudgeServer) -> None:
    """Else a cache, or a model at temperature 0, would say the same again."""
    await evaluate(server, [])
    first, second = (request.body["messages"][-1]["content"] for request in server.requests)
    assert "<note>" in second
    assert "<note>" not in first


@pytest.mark.parametrize("text", ["c0.s" * 20_000, "chunk " * 20_000, "[" * 80_000, "a " * 50_000, "0" * 80_000])
def test_hostile_ids_are_read_in_no_time(text: str) -> None:
    """What a model returns may be anything."""
    steps = number_evidence([Chunk(id="0", text=TOWER * 50, position=0)])
    try:
        while True:
            next(steps)
    except StopIteration as done:
        evidence = done.value
    assert set(evidence.find([text]).chunk_ids) <= {"0"}
