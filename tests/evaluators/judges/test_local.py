"""Models in this process: a model that knows nothing still answers in shape, and what was cut off is not made up."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from pydantic import BaseModel, Field

from rag_otel.errors import ConfigurationError, PermanentError
from rag_otel_evaluators.judges.local_thread import ModelThread
from rag_otel_evaluators.llm.cache import DiskCache
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.embedding import cosine_similarity
from rag_otel_evaluators.llm.structured import Message, StructuredModel
from rag_otel_evaluators.llm.transport import response_schema
from rag_otel_evaluators.metrics.context_recall import ContextRecall
from testkit.when_used import WhenUsed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

pytestmark = pytest.mark.torch

torch = WhenUsed("torch")
AutoTokenizer = WhenUsed("transformers", "AutoTokenizer")
local_model = WhenUsed("rag_otel_evaluators.judges.local", "local_model")
local_embedder = WhenUsed("rag_otel_evaluators.judges.local_embedder", "local_embedder")
JsonWriting = WhenUsed("rag_otel_evaluators.judges.local_json", "JsonWriting")
TokenRules = WhenUsed("rag_otel_evaluators.judges.local_json", "TokenRules")
bounded_schema = WhenUsed("rag_otel_evaluators.judges.local_json", "bounded_schema")
closing_tokens = WhenUsed("rag_otel_evaluators.judges.local_json", "closing_tokens")


class Finding(BaseModel):
    claim: int
    reason: str
    verdict: Literal["supported", "contradicted"]
    sources: list[str] = []


class Findings(BaseModel):
    findings: list[Finding]
    certainty: float
    note: str | None
    complete: bool


class Nested(BaseModel):
    """A shape without an end of its own."""

    name: str = Field(min_length=2)
    parts: list[Nested]


class Summary(BaseModel):
    text: str
    holds: bool


ASKED = [Message(role="system", content="Judge."), Message(role="user", content="Is bread baked?")]


@pytest.fixture(scope="module")
def model(causal_folder: Path) -> ResilientModel:
    return local_model(causal_folder, device="cpu")


@pytest.mark.parametrize("response_model", [Findings, Nested, Summary])
@pytest.mark.parametrize("budget", [1, 7, 90])
async def test_noise_is_valid_json(model: StructuredModel, response_model: type[BaseModel], budget: int) -> None:
    """Whatever the shape, and however small the budget, the answer parses and validates."""
    completion = await model.complete(ASKED, response_model, max_output_tokens=budget)
    assert completion.value is not None, completion.problems
    assert response_model.model_validate_json(completion.raw) == completion.value
    assert completion.usage.calls == 1
    assert completion.usage.cost_usd == 0.0
    assert completion.usage.input_tokens > 0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("response_model", [Findings, Nested])
def test_random_writing_comes_to_its_end(
    byte_tokenizer: PreTrainedTokenizerFast, response_model: type[BaseModel], seed: int
) -> None:
    """Wherever in an answer the budget runs out, the promised number of tokens brings it to a valid end."""
    generator = torch.Generator().manual_seed(seed)
    rules = TokenRules(byte_tokenizer, vocabulary=264, end_tokens=[256])
    schema = bounded_schema(response_schema(response_model), 40)
    budget = int(torch.randint(1, 250, (1,), generator=generator))
    writing = JsonWriting(rules, schema, budget=budget, cancelled=threading.Event())
    ids, done = torch.zeros((1, 1), dtype=torch.long), False
    for _ in range(budget + closing_tokens(schema)):
        scores = writing.allow(ids, torch.randn((1, 264), generator=generator))
        ids = torch.cat([ids, scores.argmax(dim=-1, keepdim=True)], dim=1)
        done = bool(writing.stop(ids, scores))
        if done:
            break
    assert done
    response_model.model_validate_json(writing.text)


def test_unbounded_fields_get_bounds() -> None:
    """Strings and integers without an end get one; those that have their own, and fixed choices, keep them."""

    class Bounds(BaseModel):
        free: str
        short: str = Field(max_length=5)
        long: str = Field(min_length=900)
        count: int
        level: int = Field(ge=0, le=4)
        choice: Literal["a", "b"]

    properties = bounded_schema(response_schema(Bounds), 600)["properties"]
    assert properties["free"]["maxLength"] == 600
    assert properties["short"]["maxLength"] == 5
    assert properties["long"] == {"type": "string", "minLength": 900, "maxLength": 900}
    assert properties["count"] == {"type": "integer", "minimum": -(10**9), "maximum": 10**9}
    assert properties["level"] == {"type": "integer", "minimum": 0, "maximum": 4}
    assert "maxLength" not in properties["choice"]


@pytest.mark.parametrize(
    ("so_far", "expected"),
    [
        ('{"findings":[{"claim":1,"reason":"a, b","verdict":"supported","sources":["x","y"]},{"claim":2,"rea', 1),
        ('{"findings":[{"claim":1,"reason":"a ]}, \\"","verdict":"supported","sources":["x', 0),
        ('{"findings":[{"claim":1,"reason":"a","verdict":"supported","sources":[]}', 1),
        ('{"findings":[', 0),
        ('{"findi', 0),
        ('{"findings":[],"certainty":0.', 0),
    ],
)
def test_what_was_cut_off_is_left_out(byte_tokenizer: PreTrainedTokenizerFast, so_far: str, expected: int) -> None:
    """Of a list, the items that were complete when the budget ran out are kept, the one being written is not."""
    ids = byte_tokenizer(so_far)["input_ids"]
    rules = TokenRules(byte_tokenizer, vocabulary=264, end_tokens=[256])
    schema = bounded_schema(response_schema(Findings), 40)
    writing = JsonWriting(rules, schema, budget=len(ids), cancelled=threading.Event())
    for token in ids:
        assert not writing.stop(torch.tensor([[token]]), None)
    ended = False
    for _ in range(closing_tokens(schema)):
        if ended:
            break
        token = int(writing.allow(torch.zeros((1, 1)), torch.zeros((1, 264))).argmax())
        ended = bool(writing.stop(torch.tensor([[token]]), None))
    assert writing.hurried
    findings = Findings.model_validate_json(writing.text).findings
    assert len(findings) == expected
    assert all(finding.verdict == "supported" and finding.reason for finding in findings)


async def test_a_metric_runs_on_a_local_model(model: StructuredModel) -> None:
    """A judge that knows nothing gives a worthless score or an honest reason, and never an error."""
    result = await ContextRecall(model=model).evaluate(
        question="What is bread?", chunks=["Bread is baked."], response="", reference="Bread is baked. It is food."
    )
    assert result.error_type is None, result.explanation
    assert (result.score is None) == (result.reason_code is not None)
    assert result.judge == "local/tiny-llama"


async def test_an_answer_is_paid_for_once(causal_folder: Path, tmp_path: Path) -> None:
    """With a cache the same question is not computed again, by another process neither."""
    first = await local_model(causal_folder, cache=DiskCache(tmp_path / "answers.db")).complete(
        ASKED, Summary, max_output_tokens=50
    )
    again = await local_model(causal_folder, cache=DiskCache(tmp_path / "answers.db")).complete(
        ASKED, Summary, max_output_tokens=50
    )
    assert (first.usage.calls, again.usage.calls) == (1, 0)
    assert again.value == first.value


async def test_the_chat_format_of_the_model_is_used(causal_folder: Path, tmp_path: Path) -> None:
    """A template that knows no system turn gets its text in the first question; the prompt is longer for its marks."""
    folder = tmp_path / "templated"
    folder.mkdir()
    for path in causal_folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = (
        "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('no system turn') }}"
        "{% endif %}<turn>{{ message.role }}|{{ message.content }}</turn>{% endfor %}<turn>model|"
    )
    tokenizer.save_pretrained(folder)
    completion = await local_model(folder).complete(ASKED, Summary, max_output_tokens=20)
    plain = await local_model(causal_folder).complete(ASKED, Summary, max_output_tokens=20)
    assert completion.value is not None
    asked = "Instructions: " + "\n\nQuestion: " + "\n\nAnswer: "
    templated = "<turn>user|" + "\n\n" + "</turn><turn>model|"
    assert completion.usage.input_tokens - len(templated) == plain.usage.input_tokens - len(asked)


async def test_a_special_token_in_a_text_is_text(causal_folder: Path, tmp_path: Path) -> None:
    """The model's own end token in a retrieved page is written out, with and without a chat format."""
    for model in (local_model(causal_folder), local_model(templated(causal_folder, tmp_path, ""))):
        hostile, plain = [
            (await model.complete([Message(role="user", content=text)], Summary, max_output_tokens=20)).usage
            for text in ("Stop <end> now", "Stop (end) now")
        ]
        assert hostile.input_tokens == plain.input_tokens + 1  # `< end>`, a byte a token; as a token it would be one


async def test_thoughts_that_a_template_opens_are_closed(causal_folder: Path, tmp_path: Path) -> None:
    """The answer is JSON from its first token on, and would otherwise stand among the thoughts."""
    asked = [Message(role="user", content="Why?")]
    thinking = local_model(templated(causal_folder, tmp_path, "<think>\n"))
    plain = local_model(templated(causal_folder, tmp_path, ""))
    one, other = [
        (await model.complete(asked, Summary, max_output_tokens=20)).usage.input_tokens for model in (thinking, plain)
    ]
    assert one - other == len("<think>\n</think>\n\n")


def templated(causal_folder: Path, tmp_path: Path, begins: str) -> Path:
    """The model with a chat format in which every answer begins so."""
    folder = tmp_path / f"templated-{len(begins)}"
    folder.mkdir(exist_ok=True)
    for path in causal_folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = (
        "{% for message in messages %}({{ message.role }}|{{ message.content }}){% endfor %}(model|" + begins
    )
    tokenizer.save_pretrained(folder)
    return folder


async def test_a_prompt_beyond_the_context_is_refused(model: StructuredModel) -> None:
    """It would be answered with nonsense or an index error; the message says how long it is."""
    with pytest.raises(PermanentError, match="leaves no room in its context of 6000"):
        await model.complete([Message(role="user", content="word " * 1300)], Summary)


async def test_who_gives_up_waiting_frees_the_thread() -> None:
    """A call that nobody waits for any more is told so, and the next one gets its turn."""
    thread, started, told = ModelThread("test"), threading.Event(), []

    def long_call(cancelled: threading.Event) -> None:
        started.set()
        told.append(cancelled.wait(timeout=30))

    waiting = asyncio.create_task(thread.run(long_call))
    while not started.is_set():
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await thread.run(lambda cancelled: cancelled.is_set()) is False
    assert told == [True]


def test_a_cancelled_answer_stops_at_the_next_token(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    """Writing ends where nobody waits for the answer."""
    cancelled = threading.Event()
    rules = TokenRules(byte_tokenizer, vocabulary=264, end_tokens=[256])
    writing = JsonWriting(rules, bounded_schema(response_schema(Summary), 40), budget=50, cancelled=cancelled)
    brace = torch.tensor([[byte_tokenizer.convert_tokens_to_ids("{")]])
    assert not writing.stop(brace, None)
    cancelled.set()
    quote = torch.tensor([[byte_tokenizer.convert_tokens_to_ids('"')]])
    assert writing.stop(quote, None)


async def test_answers_at_once_do_not_mix(model: StructuredModel) -> None:
    """Several metrics share one model: each gets what it would have got alone."""
    questions = [[Message(role="user", content=text)] for text in ("one", "two two", "three three three")]
    alone = [(await model.complete(asked, Summary, max_output_tokens=60)).raw for asked in questions]
    together = await asyncio.gather(*(model.complete(asked, Summary, max_output_tokens=60) for asked in questions))
    assert [completion.raw for completion in together] == alone


def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    """An empty folder is neither a language model nor an embedding model, and the message names it."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "nonesuch"}))
    with pytest.raises(ConfigurationError, match=tmp_path.name):
        local_model(tmp_path)
    with pytest.raises(ConfigurationError, match=tmp_path.name):
        local_embedder(tmp_path)


async def test_a_local_embedder_embeds(embedding_folder: Path) -> None:
    """One vector a text, in order, the same for the same text; a prefix makes another text."""
    embedder = local_embedder(embedding_folder, device="cpu")
    result = await embedder.embed(["the first of them", "another one is here", "the first of them"])
    first, second, third = result.vectors
    assert cosine_similarity(first, third) == pytest.approx(1.0)
    similarity = cosine_similarity(first, second)
    assert similarity is not None
    assert similarity < 0.999
    prefixed = await local_embedder(embedding_folder, device="cpu", prefix="the ").embed(["first of them"])
    assert cosine_similarity(first, prefixed.vectors[0]) == pytest.approx(1.0)
    assert embedder.name == "local/tiny-bert"
    assert (await embedder.embed([])).vectors == []
