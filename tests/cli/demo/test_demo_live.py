"""`rag-otel demo --model`: a model of one's own answers and judges."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.cli.demo.live import PROJECT, live_report, tell_live
from rag_otel.cli.demo.story import examples_folder
from testkit.judge_server import JudgeRequest, JudgeServer
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from testkit.word_overlap_judge import answer as oracle
from tests.support.phoenix_server import PhoenixApi


def _answers_and_judges(request: JudgeRequest) -> dict[str, Any]:
    if "<passages>" in request.prompt:
        return {"answer": "The moon of Jupiter was painted green by goats."}
    return oracle(request)


@pytest.mark.phoenix
def test_a_model_answers_and_judges_live(phoenix_server: SharedPhoenix, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the wire of an OpenAI server: answers, verdicts and tokens are the model's, and Phoenix shows them."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with JudgeServer(answer=_answers_and_judges) as server:
        monkeypatch.setenv("RAG_OTEL_JUDGE_API_BASE", server.url)
        results = tell_live(examples_folder(), phoenix_server.base_url, model="openai/live", questions=2)
    assert [result.evaluations[0].judge for result in results] == ["openai/live"] * 2
    assert all(result.evaluations[0].usage.input_tokens > 0 for result in results if result.evaluations[0].usage)
    assert "painted green" in live_report(results, base_url=phoenix_server.base_url)
    spans = eventually(lambda: PhoenixApi(phoenix_server.base_url).spans(PROJECT))
    assert len([span for span in spans if span["span_kind"] != semconv.KIND_EVALUATOR]) == 2
