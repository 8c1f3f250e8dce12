"""Nothing is paid for twice: answers of language models and verdicts of slow judges are kept by content."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_otel.model import Chunk, Claim, ClaimVerdict, Quote, Verdict
from rag_otel_evaluators import evaluate
from rag_otel_evaluators.judges.cached import CachedJudge
from rag_otel_evaluators.judges.judge import Judgement
from rag_otel_evaluators.llm.cache import DiskCache
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit import word_overlap_judge
from testkit.judge_server import JudgeServer

CONTEXT = "The tower is 330 metres high. It was finished in 1889."
ROWS = [
    {"question": "Q?", "contexts": [CONTEXT], "response": f"The tower was finished in {1880 + n}."} for n in range(12)
]


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=word_overlap_judge.answer) as running:
        yield running


def judge_at(server: JudgeServer) -> dict[str, Any]:
    return {"model": "openai/test-judge", "api_base": server.url}


def test_a_second_run_asks_nothing(server: JudgeServer, tmp_path: Path) -> None:
    """Same rows, same scores, no request and no cost; a row that is new is the only one that is asked about."""
    cache = tmp_path / "cache" / "answers"
    first = evaluate(ROWS, judge=judge_at(server), cache=cache)
    asked = len(server.requests)
    assert asked == len(ROWS)
    again = evaluate([*ROWS, {**ROWS[0], "response": "It is 330 metres high."}], judge=judge_at(server), cache=cache)
    assert len(server.requests) == asked + 1
    assert again.scores("faithfulness")[:-1] == first.scores("faithfulness")
    assert [evaluation.claims for evaluation in again.evaluations("faithfulness")[:-1]] == [
        evaluation.claims for evaluation in first.evaluations("faithfulness")
    ]
    assert again.summary()[0].usage.calls == 1


def test_failures_are_not_kept(server: JudgeServer, tmp_path: Path) -> None:
    """What could not be read the first time is asked again, and only that."""
    settings: dict[str, Any] = {"judge": judge_at(server), "cache": tmp_path / "answers"}
    server.answer = lambda request: "nonsense" if "1883" in request.prompt else word_overlap_judge.answer(request)
    first = evaluate(ROWS, **settings)
    assert [n for n, score in enumerate(first.scores("faithfulness")) if score is None] == [3]
    asked = len(server.requests)
    server.answer = word_overlap_judge.answer
    again = evaluate(ROWS, **settings)
    assert len(server.requests) == asked + 1
    assert None not in again.scores("faithfulness")


def test_other_settings_are_other_answers(server: JudgeServer, tmp_path: Path) -> None:
    """Another temperature is another measurement."""
    for temperature in (0.0, 0.5, 0.5):
        evaluate(ROWS[:1], judge={**judge_at(server), "temperature": temperature}, cache=tmp_path / "answers")
    assert len(server.requests) == 2


class SlowJudge:
    """Supports every claim by the first letters of the first chunk, and counts what it was asked."""

    name = "slow"

    def __init__(self, version: str = "1", reason_code: str | None = None) -> None:
        self.version = version
        self.asked = 0
        self._reason_code = reason_code

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        self.asked += 1
        quote = Quote(chunk_id=chunks[0].id, start=0, end=3, text=chunks[0].text[:3])
        verdicts = (
            ClaimVerdict(
                claim=claim, verdict=Verdict.SUPPORTED, quotes=(quote,), chunk_ids=("0",), support_probability=0.75
            )
            for claim in claims
        )
        return Judgement(verdicts=tuple(verdicts), risk=0.25, reason_code=self._reason_code)


def test_verdicts_of_a_judge_in_process(tmp_path: Path) -> None:
    """They come back as they were, from disk; another version, another chunk id or another text is judged anew."""
    slow = SlowJudge()
    cache = DiskCache(tmp_path / "verdicts")
    first = evaluate(ROWS[:2], metrics=[Faithfulness(judge=CachedJudge(slow, cache))])
    reopened = DiskCache(tmp_path / "verdicts")
    second = evaluate(ROWS[:2], metrics=[Faithfulness(judge=CachedJudge(slow, reopened))])
    assert slow.asked == 2
    assert [e.claims for e in second.evaluations("faithfulness")] == [
        e.claims for e in first.evaluations("faithfulness")
    ]
    assert [e.risk for e in second.evaluations("faithfulness")] == [0.25, 0.25]
    newer = SlowJudge(version="2")
    evaluate(ROWS[:2], metrics=[Faithfulness(judge=CachedJudge(newer, reopened))])
    assert newer.asked == 2
    named = [{**ROWS[0], "contexts": [{"id": "tower", "text": CONTEXT}]}]
    evaluate(named, metrics=[Faithfulness(judge=CachedJudge(slow, reopened))])
    assert slow.asked == 3


def test_what_was_not_judged_in_full_is_not_kept(tmp_path: Path) -> None:
    """A timeout today is no reason to be without a verdict tomorrow."""
    slow = SlowJudge(reason_code="timeout")
    judge = CachedJudge(slow, DiskCache(tmp_path / "verdicts"))
    claim = Claim(text="x", sentence_index=0, start=0, end=1)
    for _ in range(2):
        asyncio.run(
            judge.judge(question=None, chunks=[Chunk(id="0", text="abc", position=0)], response="x", claims=[claim])
        )
    assert slow.asked == 2
