"""No more is spent than was given: rows beyond the budget say so, and a later run goes on with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError
from rag_otel.model import ReasonCode
from rag_otel_evaluators import evaluate
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
    assert main([*command, "--budget-usd", "0.5"]) == 0
    first = [json.loads(line) for line in output.read_text().splitlines()]
    left = [row["faithfulness_detail"]["reason_code"] for row in first].count("budget")
    assert 0 < left < len(ROWS)
    asked = len(server.requests)
    assert main(command) == 0
    assert len(server.requests) - asked == left
    assert all(json.loads(line)["faithfulness"] is not None for line in output.read_text().splitlines())
    assert f"{left} budget" in capsys.readouterr().err
