"""A judge over the wire: a real local server that speaks the OpenAI protocol, and a model that talks to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_otel.delivery.retry import RetryPolicy
from rag_otel_evaluators.llm.embedding import ModelEmbedder
from rag_otel_evaluators.llm.structured import StructuredModel
from testkit.judge_server import JudgeRequest, JudgeServer
from testkit.when_used import llm_embedder, llm_model

ONCE = RetryPolicy(attempts=1)


@pytest.fixture
def judge() -> Iterator[JudgeServer]:
    """The server; a test sets `judge.answer` to what its model says."""
    with JudgeServer() as server:
        yield server


@pytest.fixture
def model(judge: JudgeServer) -> StructuredModel:
    """A model at that server, without retries, so that a test counts every request."""
    return llm_model("openai/test-judge", api_base=judge.url, retry=ONCE)


@pytest.fixture
def embedder(judge: JudgeServer) -> ModelEmbedder:
    """The server's embedding model."""
    return llm_embedder("openai/test-embedder", api_base=judge.url, retry=ONCE)


def fields_of(request: JudgeRequest) -> dict[str, str]:
    """The fields that the last message asks about: what stands between each pair of tags."""
    last = request.body["messages"][-1]["content"]
    return dict(re.findall(r"<(\w+)>\n(.*?)\n</\1>", last, re.DOTALL))


def items_of(field: str) -> list[str]:
    """The numbered items of a field."""
    return [text.strip() for text in re.split(r"^\[\d+\] ", field, flags=re.MULTILINE)[1:]]
