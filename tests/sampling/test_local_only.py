"""Which traces only local judges may see, and which judges are local."""

from __future__ import annotations

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.model import RagTrace, SpanRef
from rag_otel.sampling.local_only import LocalOnly, is_local
from rag_otel_evaluators.metrics.registry import build

TARGET = SpanRef(trace_id="1" * 32, span_id="2" * 16)


@pytest.mark.parametrize(
    "judge",
    [
        "embedded",
        "hhem",
        "hhem/abc",
        "local/phi",
        "cascade(embedded,hhem)",
        "local/phi+hashed-ngrams-1024",
        "function",
        "lexical/x",
    ],
)
def test_judges_in_this_process_are_local(judge: str) -> None:
    """By their names, alone and combined."""
    assert is_local(judge)


@pytest.mark.parametrize(
    "judge",
    [
        "openai/gpt-4o-mini",
        "ollama/phi",
        "cascade(embedded,openai/gpt-4o-mini)",
        "statements(openai/gpt-4o-mini,embedded)",
        "cascade(embedded,statements(openai/judge,hhem))",
        "local/phi+openai/text-embedding-3-small",
        "localhost/x",
        "mine",
    ],
)
def test_all_others_are_not(judge: str) -> None:
    """One part that sends texts away is enough, and so is a name that nobody knows."""
    assert not is_local(judge)


def test_patterns_name_routes_and_tags() -> None:
    """A pattern without a prefix is one of routes."""
    rule = LocalOnly(["support*", "tenant:acme", "service:payroll-*"])
    assert rule.covers(RagTrace(target=TARGET, route="Support/chat"))
    assert rule.covers(RagTrace(target=TARGET, route="x", tags={"tenant": "Acme"}))
    assert rule.covers(RagTrace(target=TARGET, service="payroll-eu"))
    assert not rule.covers(RagTrace(target=TARGET, route="x", tags={"tenant": "acme2", "plan": "support"}))
    assert not rule.covers(RagTrace(target=TARGET))


@pytest.mark.parametrize("pattern", ["", " ", "tenant:", ":acme"])
def test_an_empty_pattern_is_refused(pattern: str) -> None:
    """It would protect nothing."""
    with pytest.raises(ConfigurationError, match="names nothing"):
        LocalOnly([pattern])


def test_built_in_metrics_without_a_remote_judge_are_local() -> None:
    """Every metric that needs no language model, by the name that it really has."""
    names = ["faithfulness", "semantic_similarity", "id_based_context_recall", "non_llm_context_recall"]
    assert [each.judge_name for each in build(names) if not is_local(each.judge_name)] == []
