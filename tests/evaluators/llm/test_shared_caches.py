"""Caches of answers: in memory, in an SQLite file, on a real Redis server; nothing is paid for twice."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel_evaluators.llm.cache import DiskCache, open_cache
from rag_otel_evaluators.llm.memory_cache import MemoryCache
from rag_otel_evaluators.llm.stored_answers import StoredAnswers
from testkit.judge_server import JudgeServer
from testkit.polling import eventually
from testkit.warm_python import warm_python
from testkit.word_overlap_judge import answer as oracle

ANSWER = {"verdicts": ["supported"]}


def test_what_is_stored_is_found_until_it_is_old(store: str) -> None:
    """Objects, in any script; the last one stays; after `keep_s` it is gone."""
    cache = open_cache(store, keep_s=1)
    cache.put("a", {"text": "first"})
    cache.put("a", {"text": "é 中", "cut_off": False})
    assert cache.get("a") == {"text": "é 中", "cut_off": False}
    assert cache.get("b") is None
    assert eventually(lambda: cache.get("a") is None)
    cache.close()


def test_one_claim_at_a_time(store: str) -> None:
    """Two connections; a claim ends when it is released, or when its process has died."""
    one, other = open_cache(store, keep_s=60), open_cache(store, keep_s=60)
    assert one.claim("a", 60)
    if store != "memory":
        assert not other.claim("a", 60)
    one.release("a")
    assert other.claim("a", 0.2)
    assert eventually(lambda: one.claim("a", 60))
    for each in (one, other):
        each.close()


def test_memory_is_bounded() -> None:
    """What was not asked for longest is forgotten."""
    cache = MemoryCache(max_bytes=2_000)
    for number in range(100):
        cache.put(str(number), {"text": "x" * 100})
        cache.get("0")
    assert cache.get("0") is not None
    assert cache.get("50") is None
    assert cache.get("99") is not None


def test_a_server_that_is_away_costs_the_answer_alone() -> None:
    """Nothing is cached, everybody may ask, nothing raises."""
    cache = open_cache("redis://127.0.0.1:1/0", keep_s=60)
    cache.put("a", ANSWER)
    assert cache.get("a") is None
    assert cache.claim("a", 60)
    cache.release("a")


def test_a_store_that_is_not_known_is_named() -> None:
    with pytest.raises(ConfigurationError, match="judge_cache must be"):
        open_cache("memcached://somewhere", keep_s=None)


@pytest.mark.server
@pytest.mark.parametrize("store", ["sqlite", "redis"], indirect=True)
def test_processes_at_the_same_time_pay_once(store: str) -> None:
    """Three processes ask the same ten questions twice each, all at once: the server sees ten."""
    with JudgeServer(answer=lambda request: ANSWER, latency_s=0.2) as server:
        command = [warm_python(), "-m", "tests.evaluators.llm.caching_process", server.url, store, "10"]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        lines = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(server.requests) == 10
    assert sum(int(line[0]) for line in lines) == 10
    assert sum(int(line[1]) for line in lines) == 50


@given(
    schedule=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["answers", "fails", "cancelled"]), st.integers(0, 4)),
        min_size=1,
        max_size=25,
    )
)
async def test_random_schedules_never_pay_twice(schedule: list[tuple[int, str, int]]) -> None:
    """Callers of two processes, of which some fail or are cancelled: a key that has an answer is never asked for again,
    nobody waits for ever, and no claim stays behind."""
    answers, claims, paid = MemoryCache(), set[str](), dict[str, int]()

    class Process(MemoryCache):
        """A connection to claims that all processes share."""

        def claim(self, key: str, expires_s: float) -> bool:
            taken = key in claims
            claims.add(key)
            return not taken

        def release(self, key: str) -> None:
            claims.discard(key)

    async def ask(process: StoredAnswers, key: str, outcome: str, pauses: int) -> None:
        async with process.asking(key):
            if answers.get(key) is not None:
                return
            for _ in range(pauses):
                await asyncio.sleep(0)
            if outcome == "fails":
                raise RetryableError("the judge is away")
            if outcome == "cancelled":
                raise asyncio.CancelledError
            paid[key] = paid.get(key, 0) + 1
            answers.put(key, ANSWER)

    processes = [StoredAnswers(Process(), longest_s=60) for _ in range(2)]
    tasks = [
        asyncio.create_task(ask(processes[number % 2], str(key), outcome, pauses))
        for number, (key, outcome, pauses) in enumerate(schedule)
    ]
    await asyncio.wait(tasks, timeout=60)
    assert all(task.done() for task in tasks)
    assert set(paid.values()) <= {1}
    assert not claims


async def test_a_process_that_dies_with_its_claim_is_waited_for_until_its_deadline(store: str) -> None:
    """Then the next one asks."""
    cache = open_cache(store, keep_s=60)
    cache.claim("a", 0.3)
    async with asyncio.timeout(30), StoredAnswers(cache, longest_s=60).asking("a"):
        pass
    cache.close()


def test_a_hit_is_on_the_span_and_costs_nothing(uninstrumented: None, store: str) -> None:
    """The same answer twice: the second time no call, no token, no dollar; the span says how many calls were spared."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with JudgeServer(answer=oracle) as server:
        judge = rag_otel.JudgeSettings(model="openai/local", api_base=server.url, cache=store)
        rag_otel.instrument(provider, judge=judge, evaluations_per_minute=math.inf)

        @rag_otel.observe
        def answer(question: str) -> dict[str, object]:
            return {"answer": "The tower is high.", "chunks": [{"id": "1", "text": "The tower is high."}]}

        for _ in range(2):
            answer("How high?")
            assert rag_otel.flush(timeout=60)
        calls = len(server.requests)
    first, second = (dict(span.attributes or {}) for span in exporter.get_finished_spans())
    assert calls == 1
    assert first["rag.evaluation.faithfulness.score"] == second["rag.evaluation.faithfulness.score"]
    assert "rag.evaluation.faithfulness.cached_calls" not in first
    assert second["rag.evaluation.faithfulness.cached_calls"] == 1


def test_a_file_of_an_earlier_release_is_read(tmp_path: Path) -> None:
    """Its table of answers is the same."""
    path = tmp_path / "answers.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, stored REAL NOT NULL)")
        connection.execute("INSERT INTO answers VALUES ('a', '{\"text\": \"x\"}', 1.0)")
    assert DiskCache(path).get("a") == {"text": "x"}
