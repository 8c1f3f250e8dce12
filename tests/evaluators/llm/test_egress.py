"""What a judge server receives is masked, and what comes back has the original texts. Real HTTP."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.model import Chunk, Evaluation, Verdict
from rag_otel.safety.masking import CLASSES, MaskEngine
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.llm.egress import Egress
from rag_otel_evaluators.llm.egress_record import EgressRecord
from rag_otel_evaluators.llm.mask_engines import engine_of
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError
from testkit.planted_secrets import planted_case
from testkit.when_used import llm_embedder, llm_model
from testkit.word_overlap_judge import answer as word_overlap

CHUNKS = [
    Chunk(id="a", text="Ann's address is  ann@example.org.\nThe password: Tr0ub4dor. It is old.", position=0),
    Chunk(id="b", text="Bob's address is bob@example.org.", position=1),
]
RESPONSE = "Ann's address is ann@example.org. Bob's address is ann@example.org. The password is Tr0ub4dor."


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=word_overlap) as running:
        yield running


def received(server: JudgeServer) -> str:
    return "\n".join(json.dumps(request.body, ensure_ascii=False) for request in server.requests)


async def judged(
    server: JudgeServer, egress: Egress, *, direct: bool = True, strategy: Any = "single", **case: Any
) -> Evaluation:
    model = llm_model("openai/judge", api_base=server.url, egress=egress, direct=direct)
    texts = {"question": "Whose address is ann@example.org?", "chunks": CHUNKS, "response": RESPONSE, **case}
    return await evaluate(Faithfulness(judge=LlmJudge(model=model, strategy=strategy)), **texts, timeout_s=30)


@pytest.mark.parametrize("direct", [True, False], ids=["http", "litellm"])
async def test_planted_secrets_do_not_leave(server: JudgeServer, direct: bool) -> None:
    """Neither straight over HTTP nor through litellm; without masking they do."""
    cases = [planted_case(seed) for seed in range(10)]
    for case in cases:
        texts: dict[str, Any] = {"question": case.question, "chunks": case.chunks, "response": case.response}
        result = await judged(server, Egress(mask=CLASSES), direct=direct, **texts)
        assert result.score is not None
    assert not [secret for case in cases for secret in case.secrets if secret in received(server)]
    await judged(server, Egress(mask=()), direct=direct, chunks=cases[0].chunks)
    assert cases[0].secrets[0] in received(server)


async def test_keys_are_masked_without_any_setting(server: JudgeServer) -> None:
    """A model that an application makes by itself; personal data only where it is asked for."""
    for model in (openai_model("openai/judge", api_base=server.url), llm_model("openai/judge", api_base=server.url)):
        metric = Faithfulness(judge=LlmJudge(model=model))
        await evaluate(metric, question=None, chunks=CHUNKS, response=RESPONSE, timeout_s=30)
        await metric.evaluate(question=None, chunks=CHUNKS, response=RESPONSE)  # without the pipeline around it
    assert "Tr0ub4dor" not in received(server)
    assert "ann@example.org" in received(server)


async def test_the_judge_can_compare_and_quotes_are_verbatim(server: JudgeServer) -> None:
    """One placeholder for one value, chunk numbers as they were; claims, quotes and reasons have the originals."""
    result = await judged(server, Egress(mask=CLASSES))
    prompt = server.requests[0].prompt
    assert "[c0.s0] Ann's address is <EMAIL_1>." in prompt
    assert "[c1.s0] Bob's address is <EMAIL_2>." in prompt
    assert "[1] Bob's address is <EMAIL_1>." in prompt
    assert "Whose address is <EMAIL_1>?" in prompt
    first = result.claims[0]
    assert first.verdict is Verdict.SUPPORTED
    assert first.claim.text == RESPONSE[first.claim.start : first.claim.end] == "Ann's address is ann@example.org."
    (quote,) = first.quotes
    assert quote.text == CHUNKS[0].text[quote.start : quote.end] == "Ann's address is  ann@example.org."
    assert "ann@example.org" in str(first.explanation)
    assert not any("_1>" in str(claim) for claim in result.claims)


async def test_statements_of_the_judge_get_the_originals_back(server: JudgeServer) -> None:
    """In two steps what the first call returns is masked again for the second, with the same placeholders."""
    result = await judged(server, Egress(mask=CLASSES), strategy="two_step")
    assert len(server.requests) >= 2
    assert "ann@example.org" not in received(server)
    assert result.claims[0].claim.text == "Ann's address is ann@example.org."
    assert all("Ann's address is <EMAIL_1>." in request.prompt for request in server.requests)


async def test_an_embedder_sees_placeholders(server: JudgeServer) -> None:
    """It is called over HTTP as a judge is."""
    embedder = llm_embedder("openai/embedder", api_base=server.url, egress=Egress(mask=CLASSES))
    vectors = (await embedder.embed(["Write to ann@example.org", "ann@example.org"])).vectors
    assert len(vectors) == 2
    assert server.requests[0].body["input"] == ["Write to <EMAIL_1>", "<EMAIL_1>"]


class Names(MaskEngine):
    """An engine of one's own; it runs on a thread."""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def find(self, text: str) -> Iterable[tuple[int, int, str]]:
        self.threads.add(threading.get_ident())
        at = text.find("Quentin")
        return [(at, at + len("Quentin"), "person")] if at >= 0 else []


async def test_an_engine_finds_more(server: JudgeServer) -> None:
    """Beside the classes, wherever the value stands."""
    names = Names()
    chunks = [Chunk(id="a", text="Quentin lives in Ulm.", position=0)]
    await judged(server, Egress(engine=names), chunks=chunks, response="Quentin lives in Ulm. It was Quentin.")
    assert "Quentin" not in received(server)
    assert "[c0.s0] <PERSON_1> lives in Ulm." in server.requests[0].prompt
    assert threading.get_ident() not in names.threads


async def test_an_engine_that_fails_lets_nothing_out(server: JudgeServer) -> None:
    """The evaluation fails instead."""

    class Broken(MaskEngine):
        def find(self, text: str) -> Iterable[tuple[int, int, str]]:
            raise RuntimeError("no model")

    result = await judged(server, Egress(engine=Broken()))
    assert result.error_type == "builtins.RuntimeError"
    assert not server.requests


def test_presidio_finds_what_its_patterns_say() -> None:
    """Without a language model and without the network."""
    pytest.importorskip("presidio_analyzer", reason="pip install presidio-analyzer")
    engine = engine_of("presidio")
    assert engine is not None
    text = "My card is 4111 1111 1111 1111, my social security number is 536-90-4399. Born 1990-02-03."
    found = {(text[start:end], kind) for start, end, kind in engine.find(text)}
    assert found == {("4111 1111 1111 1111", "CREDIT_CARD"), ("536-90-4399", "US_SSN")}


@pytest.mark.parametrize("setting", ["presidi", "no_such_module:engine", object()])
def test_an_engine_that_is_none_is_refused_at_the_start(setting: object) -> None:
    """With what to write instead."""
    with pytest.raises(ConfigurationError, match="mask_engine"):
        engine_of(setting)


@pytest.mark.parametrize("direct", [True, False], ids=["http", "litellm"])
async def test_the_record_is_what_the_server_received(server: JudgeServer, direct: bool, tmp_path: Path) -> None:
    """Every request, retries included, with its judge, host and size; readable by the owner alone."""
    file = tmp_path / "sent.jsonl"
    server.fail_next(ServerError(status=500))
    await judged(server, Egress(mask=CLASSES, record=EgressRecord(file)), direct=direct)
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [entry["messages"] for entry in entries] == [request.body["messages"] for request in server.requests]
    assert len(entries) == 2
    assert {(entry["judge"], entry["host"]) for entry in entries} == {("openai/judge", f"127.0.0.1:{server.port}")}
    if direct:
        assert [entry["bytes"] for entry in entries] == [_size(request) for request in server.requests]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def _size(request: JudgeRequest) -> int:
    return int(request.headers["content-length"])


def test_the_record_is_bounded(tmp_path: Path) -> None:
    """The file and the one before it, neither above the limit."""
    file = tmp_path / "sent.jsonl"
    record = EgressRecord(file, largest=2_000)
    for number in range(100):
        record.write("openai/judge", "host", 100, [{"role": "user", "content": f"{number:0100}"}])
    files = sorted(tmp_path.iterdir())
    assert [each.name for each in files] == ["sent.jsonl", "sent.jsonl.1"]
    assert all(each.stat().st_size <= 2_000 and stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)
    assert json.loads(file.read_text().splitlines()[-1])["messages"][0]["content"] == f"{99:0100}"


def test_a_record_that_cannot_be_written_is_said_at_the_start(tmp_path: Path) -> None:
    """Not after a day without a record."""
    with pytest.raises(ConfigurationError, match="judge_record_file"):
        EgressRecord(tmp_path / "no" / "folder.jsonl")
