"""The cache that a setting names, from `instrument()` to the judge's server; and what decides whether two questions to
a judge are the same."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rag_otel.model import Chunk
from rag_otel_evaluators.build import build_evaluators
from rag_otel_evaluators.judges.config import EvaluatorsConfig
from rag_otel_evaluators.llm.memory_cache import MemoryCache
from rag_otel_evaluators.prompts.library import load_prompt, save_prompt
from testkit.judge_server import JudgeServer
from testkit.warm_python import warm_python
from testkit.word_overlap_judge import answer as oracle
from tests.evaluators.llm.instrumented_process import instrumented_answers, total

SHARED = pytest.mark.parametrize("store", ["sqlite", pytest.param("redis", marks=pytest.mark.server)], indirect=True)
CHUNKS = ("The tower is 330 metres high.", "Write to ann.lee@example.org about the tower.")


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=oracle) as running:
        yield running


@pytest.mark.usefixtures("uninstrumented")
@SHARED
def test_a_restart_pays_for_nothing_again(server: JudgeServer, store: str) -> None:
    """A store that is empty at first: what the first run has paid for, the second one finds."""
    for run in range(2):
        spans = instrumented_answers(server.url, store, 3)
        assert len(server.requests) == 3
        assert total(spans, "cached_calls") == run * 3


@SHARED
def test_instrumented_processes_pay_once(server: JudgeServer, store: str) -> None:
    """Two workers of one application, started together on an empty store, are asked the same five questions."""
    server.latency_s = 0.2
    command = [
        warm_python(with_litellm=True),
        "-m",
        "tests.evaluators.llm.instrumented_process",
        server.url,
        store,
        "5",
    ]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=600)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert len(server.requests) == 5
    assert [int(spans) for spans, _ in said] == [5, 5]
    assert sum(int(cached) for _, cached in said) == 5


async def _judged(server: JudgeServer, cache: MemoryCache, **changed: Any) -> None:
    """One answer, judged as `changed` says; anything else is always the same."""
    given = {"question": "How high is it?", "chunks": CHUNKS, "response": "The tower is 330 metres high.", **changed}
    texts = {name: given.pop(name) for name in ("question", "chunks", "response")}
    whole = {name: given.pop(name) for name in ("language", "prompts") if name in given}
    judge = {"model": "openai/local", "api_base": server.url, **given}
    config = EvaluatorsConfig.model_validate({"judge": judge, **whole})
    with ExitStack() as resources:
        (faithfulness,) = build_evaluators(config, resources, cache=cache)
        chunks = [Chunk(id=text[:3], text=text, position=position) for position, text in enumerate(texts["chunks"])]
        result = await faithfulness.evaluate(
            question=texts["question"], chunks=chunks, response=texts["response"], reference=None
        )
    assert result.score == 1.0


@pytest.mark.parametrize(
    "changed",
    [
        {"question": "How tall is it?"},
        {"response": "The tower is 330 metres high in all."},
        {"chunks": CHUNKS[::-1]},
        {"chunks": (*CHUNKS, "The tower stands in Paris.")},
        {"model": "openai/another"},
        {"temperature": 0.5},
        {"parameters": {"seed": 7}},
        {"mask": ("email",)},
        {"reading": "lenient"},
        {"strategy": "two_step"},
        {"samples": 2},
        {"language": "es"},
    ],
    ids=lambda changed: next(iter(changed)),
)
async def test_whatever_may_change_the_verdict_is_in_the_key(server: JudgeServer, changed: dict[str, Any]) -> None:
    """The same question is answered from the cache; with one thing changed the judge is asked again."""
    cache = MemoryCache()
    for _ in range(2):
        await _judged(server, cache)
    assert len(server.requests) == 1
    await _judged(server, cache, **changed)
    assert len(server.requests) > 1


async def test_an_edited_prompt_is_in_the_key(server: JudgeServer, tmp_path: Path) -> None:
    """And so is a server's address: the same name may be another model there."""
    cache, prompt = MemoryCache(), load_prompt("faithfulness")
    edited = prompt.model_copy(update={"instruction": f"{prompt.instruction}\nBe brief."})
    save_prompt(edited, tmp_path)
    for prompts, expected in ((None, 1), (tmp_path, 2), (tmp_path, 2)):
        await _judged(server, cache, prompts=prompts)
        assert len(server.requests) == expected
    await _judged(server, cache, api_base=server.url.replace("127.0.0.1", "localhost"))
    assert len(server.requests) == 3
