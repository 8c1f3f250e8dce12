"""No more is spent than was given: rows beyond the budget say so, and a later run goes on with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, Evaluation, ReasonCode, Usage
from rag_otel_evaluators import evaluate
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.rows import evaluate_rows
from testkit import word_overlap_judge
from testkit.judge_server import JudgeServer

ROWS = [
    {"question": "Q?", "contexts": ["It was finished in 1889."], "response": f"It was finished in {1880 + n}."}
    for n in range(10)
]
PRICES = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.01}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=word_overlap_judge.answer) as running:
        yield running


def judge_at(server: JudgeServer, **parameters: Any) -> dict[str, Any]:
    return {"model": "openai/test-judge", "api_base": server.url, "parameters": parameters}


def test_rows_beyond_the_budget_are_not_judged(server: JudgeServer) -> None:
    """The row that overdraws it is the last one; the others have the reason, and cost no call."""
    one = evaluate(ROWS[:1], judge=judge_at(server, **PRICES), concurrency=1).evaluations("faithfulness")[0]
    assert one.usage is not None
    assert one.usage.cost_usd is not None
    budget = 3.5 * one.usage.cost_usd
    asked = len(server.requests)
    results = evaluate(ROWS, judge=judge_at(server, **PRICES), concurrency=1, budget_usd=budget)
    reasons = [evaluation.reason_code for evaluation in results.evaluations("faithfulness")]
    judged = reasons.count(None)
    assert 3 <= judged < len(ROWS)
    assert reasons == [None] * judged + [ReasonCode.BUDGET] * (len(ROWS) - judged)
    assert len(server.requests) - asked == judged
    (summary,) = results.summary()
    assert summary.nulls == {"budget": len(ROWS) - judged}
    spent = summary.usage.cost_usd
    assert spent is not None
    assert budget <= spent <= budget + one.usage.cost_usd


class _OneDollar:
    """A metric whose judge takes a dollar for every answer."""

    version = "1"
    judge_name = "openai/test-judge"

    def __init__(self, name: str) -> None:
        self.name = name

    async def evaluate(self, **given: object) -> Evaluation:
        return Evaluation(name=self.name, score=1.0, usage=Usage(input_tokens=10, cost_usd=1.0, calls=1))


@pytest.mark.parametrize("concurrency", [1, 4])
def test_several_metrics_share_the_budget(concurrency: int) -> None:
    """Two metrics, five dollars: three rows. Rows at once do not overdraw it by more than one of them costs."""
    rows = [
        Row(number=n, values={}, chunks=(Chunk(id="1", text="1889", position=0),), response="1889") for n in range(20)
    ]
    evaluators = [_OneDollar("first"), _OneDollar("second")]
    results = list(evaluate_rows(rows, evaluators, concurrency=concurrency, budget_usd=5.0))
    judged = [result for result in results if result.evaluations[0].score is not None]
    assert len(judged) == 3


def test_a_budget_without_prices_is_refused(server: JudgeServer) -> None:
    """What cannot be counted cannot be kept: the message says what to give."""
    with pytest.raises(ConfigurationError, match="input_cost_per_token"):
        evaluate(ROWS, judge=judge_at(server), budget_usd=1.0)


def test_the_next_run_goes_on(server: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the command line: the second run pays for the rest alone, because answers were kept."""
    config, source, output = tmp_path / "config.json", tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    config.write_text(json.dumps({"judge": judge_at(server, **PRICES), "concurrency": 1}))
    source.write_text("\n".join(map(json.dumps, ROWS)))
    command = ["evaluate", str(source), "--config", str(config), "--output", str(output)]
    assert main([*command, "--budget-usd", "0.5"]) == 1  # what the budget left out is lost for now
    first = [json.loads(line) for line in output.read_text().splitlines()]
    left = [row["faithfulness_detail"]["reason_code"] for row in first].count("budget")
    assert 0 < left < len(ROWS)
    asked = len(server.requests)
    assert main(command) == 0
    assert len(server.requests) - asked == left
    assert all(json.loads(line)["faithfulness"] is not None for line in output.read_text().splitlines())
    assert f"{left} budget" in capsys.readouterr().err
