"""Context recall: every claim of the reference exactly once, and only chunks that exist."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel.model import Chunk, ReasonCode, Verdict
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.context_recall import ContextRecall
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError, Truncated, dropped_item
from tests.evaluators.metrics.conftest import fields_of, items_of

REFERENCE = "It has three scripts. It was found in 1799. It was found near Rashid. It is kept in London."
CHUNKS = [
    Chunk(id="doc-7", text="One decree in three scripts.", position=0),
    Chunk(id="doc-2", text="Found in 1799 near Rashid.", position=1),
]


def all_but_london(request: JudgeRequest) -> dict[str, Any]:
    """A judge that finds everything except where the stone is kept."""
    claims = items_of(fields_of(request)["claims"])
    return {
        "verdicts": [
            {"claim": i, "chunks": [1], "reason": "r", "attributed": "London" not in claim}
            for i, claim in enumerate(claims)
        ]
    }


async def evaluate(model: StructuredModel, reference: str | None = REFERENCE, chunks: Any = CHUNKS) -> Any:
    """One evaluation of the Rosetta example."""
    return await ContextRecall(model=model).evaluate(question=None, chunks=chunks, response="", reference=reference)


async def test_three_of_four_claims_are_three_quarters(judge: JudgeServer, model: StructuredModel) -> None:
    """The worked example of the literature, in one call, with the claims and the chunks' own ids."""
    judge.answer = all_but_london
    result = await evaluate(model)
    assert result.score == 0.75
    assert [claim.verdict for claim in result.claims] == [Verdict.SUPPORTED] * 3 + [Verdict.NOT_ENOUGH_INFO]
    assert result.claims[0].chunk_ids == ("doc-2",)
    assert result.claims[3].chunk_ids == ()
    assert [claim.explanation for claim in result.claims] == ["r"] * 4
    assert len(judge.requests) == 1


async def test_claims_are_slices_of_the_reference(judge: JudgeServer, model: StructuredModel) -> None:
    """Offsets count in the reference, so that it can be marked up."""
    judge.answer = all_but_london
    result = await evaluate(model)
    assert [REFERENCE[c.claim.start : c.claim.end] for c in result.claims] == [c.claim.text for c in result.claims]


async def test_the_denominator_is_ours(judge: JudgeServer, model: StructuredModel) -> None:
    """A judge that answers about two of four claims, also when asked again, leaves two unjudged, in sight."""
    judge.answer = lambda request: {
        "verdicts": all_but_london(request)["verdicts"][:2] if len(judge.requests) == 1 else []
    }
    result = await evaluate(model)
    assert result.score == 1.0
    assert [claim.verdict for claim in result.claims].count(Verdict.UNJUDGED) == 2
    assert "2 got no verdict" in result.explanation


async def test_chunks_that_do_not_exist_support_nothing(judge: JudgeServer, model: StructuredModel) -> None:
    """Attributed to chunk 5 of 2, also when asked again: no verdict, and the result says why."""
    judge.answer = lambda request: {"verdicts": [{"claim": i, "chunks": [5, -1], "attributed": True} for i in range(4)]}
    result = await evaluate(model)
    assert (result.score, result.reason_code) == (None, ReasonCode.INCOMPLETE)
    assert "does not exist" in result.explanation
    assert len(judge.requests) == 2


async def test_claims_and_chunks_counted_from_one(judge: JudgeServer, model: StructuredModel) -> None:
    """Verdicts and the chunks that they name are those of a judge that counts from 0."""
    judge.answer = lambda request: {
        "verdicts": [
            {**each, "claim": each["claim"] + 1, "chunks": [number + 1 for number in each["chunks"]]}
            for each in all_but_london(request)["verdicts"]
        ]
    }
    result = await evaluate(model)
    assert [claim.verdict for claim in result.claims] == [Verdict.SUPPORTED] * 3 + [Verdict.NOT_ENOUGH_INFO]
    assert result.claims[0].chunk_ids == ("doc-2",)
    assert len(judge.requests) == 1


async def test_one_chunk_that_does_not_exist_spoils_its_response(judge: JudgeServer, model: StructuredModel) -> None:
    """Chunk 2 of 2: the judge may count chunks from 1, and then its chunk 1 is ours before."""

    def answer(request: JudgeRequest) -> Any:
        said = all_but_london(request)
        if len(judge.requests) == 1:
            said["verdicts"][0]["chunks"] = [2]
        return said

    judge.answer = answer
    result = await evaluate(model)
    assert result.claims[1].chunk_ids == ("doc-2",)
    assert len(items_of(fields_of(judge.requests[1])["claims"])) == 4


async def test_without_a_reference_there_is_no_recall(judge: JudgeServer, model: StructuredModel) -> None:
    """Null with a reason of its own, and no call."""
    result = await evaluate(model, reference=None)
    assert (result.score, result.reason_code) == (None, ReasonCode.NO_REFERENCE)
    assert judge.requests == []


async def test_a_reference_without_claims_has_no_recall(judge: JudgeServer, model: StructuredModel) -> None:
    """A reference that abstains can be neither found nor missed."""
    result = await evaluate(model, reference="I don't know.")
    assert (result.score, result.reason_code) == (None, ReasonCode.NO_CLAIMS)
    assert judge.requests == []


async def test_nothing_retrieved_recalls_nothing(judge: JudgeServer, model: StructuredModel) -> None:
    """0 with a flag, without a call: here an empty context is a fact, not a gap."""
    result = await evaluate(model, chunks=[])
    assert (result.score, result.reason_code) == (0.0, ReasonCode.NO_CONTEXT)
    assert judge.requests == []


async def test_no_verdict_at_all_is_null(judge: JudgeServer, model: StructuredModel) -> None:
    """An empty list of verdicts is not a recall of 0."""
    judge.answer = lambda request: {"verdicts": []}
    result = await evaluate(model)
    assert (result.score, result.reason_code) == (None, ReasonCode.INCOMPLETE)


async def test_an_answer_that_was_cut_off_keeps_its_beginning(judge: JudgeServer, model: StructuredModel) -> None:
    """The verdicts that arrived whole count, and only the missing claims are asked about again."""
    judge.answer = all_but_london
    judge.fail_next(Truncated(keep=0.6))
    result = await evaluate(model)
    assert result.score == 0.75
    asked_again = items_of(fields_of(judge.requests[1])["claims"])
    assert 0 < len(asked_again) < 4
    assert asked_again == [claim.claim.text for claim in result.claims][-len(asked_again) :]


async def test_an_outage_while_asking_again_costs_only_what_is_missing(
    judge: JudgeServer, model: StructuredModel
) -> None:
    """What was judged stays judged."""
    judge.answer = lambda request: dropped_item(all_but_london(request))
    judge.fail_next(None, ServerError())
    result = await evaluate(model)
    assert [claim.verdict for claim in result.claims] == [Verdict.SUPPORTED] * 3 + [Verdict.UNJUDGED]
    assert "asking again failed" in result.explanation
    assert result.error_type is None


async def test_items_of_a_list_are_claims_without_a_full_stop(judge: JudgeServer, model: StructuredModel) -> None:
    """Lines that end in nothing are not dropped from the denominator."""
    judge.answer = lambda request: {"verdicts": [{"claim": i, "chunks": [0], "attributed": i < 1} for i in range(3)]}
    result = await evaluate(
        model, reference="The stone shows:\n- hieroglyphs at the top\n- Demotic below\n- Greek at last"
    )
    assert result.score == pytest.approx(1 / 3)
    assert len(result.claims) == 3


async def test_a_chinese_reference_is_not_lost(judge: JudgeServer, model: StructuredModel) -> None:
    """Sentences that end in 。 are claims too."""
    judge.answer = lambda request: {"verdicts": [{"claim": i, "chunks": [0], "attributed": i == 0} for i in range(2)]}
    result = await evaluate(model, reference="三星堆位于四川广汉。祭祀坑发现于1986年。")
    assert result.score == 0.5
