"""Adapting a prompt by a model: structure kept, and what loses it refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError, InputError
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.prompts import Example, Prompt, list_prompts, load_prompt
from rag_otel_evaluators.prompts.adapt import adapt_prompt, structure_problems
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError, doubled_item, dropped_item
from testkit.when_used import llm_model


@pytest.fixture
def translator() -> Iterator[JudgeServer]:
    """A server whose model writes every text in capitals between angle quotes, markers untouched."""
    with JudgeServer(answer=translate) as server:
        yield server


@pytest.fixture
def model(translator: JudgeServer) -> StructuredModel:
    """A model at that server."""
    return llm_model("openai/translator", api_base=translator.url)


def translate(request: JudgeRequest, change: Callable[[str], str] = lambda text: f"«{text}»") -> dict[str, Any]:
    """The numbered texts of the last message, changed."""
    field = re.search(r"<texts>\n(.*)\n</texts>", request.body["messages"][-1]["content"], re.DOTALL)
    assert field is not None
    texts = re.split(r"^\[\d+\] ", field[1], flags=re.MULTILINE)[1:]
    return {"texts": [{"number": i, "text": change(text.rstrip("\n"))} for i, text in enumerate(texts)]}


@pytest.mark.parametrize("prompt", list_prompts(language="en"), ids=lambda prompt: prompt.name)
async def test_every_prompt_can_be_adapted(prompt: Prompt, model: StructuredModel) -> None:
    """Texts are the model's, everything else is the original's; the hash is new, the instruction the same."""
    adapted = await adapt_prompt(prompt, "it", model)
    assert structure_problems(prompt, adapted) == []
    assert (adapted.language, adapted.name, adapted.instruction) == ("it", prompt.name, prompt.instruction)
    assert adapted.hash != prompt.hash
    assert "«" in str(adapted.examples[0].input)


async def test_the_instruction_is_adapted_on_request(model: StructuredModel) -> None:
    """With its code words as they were."""
    prompt = load_prompt("faithfulness")
    adapted = await adapt_prompt(prompt, "it", model, with_instruction=True)
    assert adapted.instruction == f"«{prompt.instruction}»"


async def test_identifiers_are_never_sent(translator: JudgeServer, model: StructuredModel) -> None:
    """Verdicts and ids are not texts: what is not sent cannot be translated."""
    adapted = await adapt_prompt(load_prompt("faithfulness"), "it", model)
    assert "[4] supported" not in translator.requests[0].prompt
    assert [v["verdict"] for v in adapted.examples[0].output["verdicts"]][:2] == ["supported", "contradicted"]


async def test_a_text_that_was_left_out_is_asked_for_again(translator: JudgeServer, model: StructuredModel) -> None:
    """Alone, and the result is whole."""
    translator.answer = lambda request: (
        dropped_item(translate(request)) if len(translator.requests) == 1 else translate(request)
    )
    adapted = await adapt_prompt(load_prompt("context_recall"), "it", model)
    assert len(translator.requests) == 2
    assert structure_problems(load_prompt("context_recall"), adapted) == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: dropped_item(translate(request)),
        lambda request: translate(request, lambda text: ""),
        lambda request: {"texts": []},
        lambda request: {"texts": [{"number": 99, "text": "x"}]},
        lambda request: "I cannot translate this.",
    ],
)
async def test_a_translation_with_gaps_is_refused(
    translator: JudgeServer, model: StructuredModel, answer: Callable[[JudgeRequest], Any]
) -> None:
    """Texts that are missing or empty after asking twice: no prompt, and the error says which text."""
    translator.answer = lambda request: answer(request) if len(translator.requests) < 3 else {"texts": []}
    with pytest.raises(InputError, match="no translation of"):
        await adapt_prompt(load_prompt("context_recall"), "it", model)


async def test_a_lost_marker_is_refused(translator: JudgeServer, model: StructuredModel) -> None:
    """An instruction that no longer names `useful` would ask for something else."""
    translator.answer = lambda request: translate(request, lambda text: text.replace("`useful`", "utile"))
    with pytest.raises(InputError, match="markers"):
        await adapt_prompt(load_prompt("context_precision"), "it", model, with_instruction=True)


async def test_doubled_texts_do_no_harm(translator: JudgeServer, model: StructuredModel) -> None:
    """The same text twice is one text."""
    translator.answer = lambda request: doubled_item(translate(request))
    adapted = await adapt_prompt(load_prompt("context_recall"), "it", model)
    assert structure_problems(load_prompt("context_recall"), adapted) == []


async def test_what_is_no_language_is_refused(translator: JudgeServer, model: StructuredModel) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigurationError, match="Italian"):
        await adapt_prompt(load_prompt("context_recall"), "Italian", model)
    assert translator.requests == []


ORIGINAL = Prompt(
    name="n",
    instruction="i",
    examples=(Example(input={"q": "A text.", "n": 3}, output={"v": ["supported", "Why so."], "ok": True}),),
)


@pytest.mark.parametrize(
    ("example", "problem"),
    [
        ({"input": {"q": "Testo.", "n": 4}, "output": {"v": ["supported", "P."], "ok": True}}, "input.n: 4"),
        ({"input": {"q": " ", "n": 3}, "output": {"v": ["supported", "P."], "ok": True}}, "input.q: no text"),
        ({"input": {"d": "T.", "n": 3}, "output": {"v": ["supported", "P."], "ok": True}}, "keys"),
        ({"input": {"q": "T.", "n": 3}, "output": {"v": ["sostenuto", "P."], "ok": True}}, "'sostenuto'"),
        ({"input": {"q": "T.", "n": 3}, "output": {"v": ["supported"], "ok": True}}, "1 items instead of 2"),
        ({"input": {"q": "T.", "n": 3}, "output": {"v": ["supported", "P."], "ok": 1}}, "ok: 1"),
        ({"input": {"q": ["T."], "n": 3}, "output": {"v": ["supported", "P."], "ok": True}}, "input.q"),
    ],
)
def test_a_translation_by_hand_is_held_to_the_same(example: dict[str, Any], problem: str) -> None:
    """Keys, lengths, numbers, truth values and identifiers; the problem is named with its place."""
    adapted = ORIGINAL.model_copy(update={"examples": (Example(**example),)})
    assert problem in structure_problems(ORIGINAL, adapted)[0]


def test_the_command_writes_what_a_metric_then_reads(
    translator: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rag-otel judge prompts adapt` ends in a folder from which the language can be used."""
    folder = tmp_path / "prompts"
    folder_and_model = ["--output", str(folder), "--model", "openai/translator", "--api-base", translator.url]
    assert main(["judge", "prompts", "adapt", "--language", "it", *folder_and_model]) == 0
    found = list_prompts(folder=folder, language="it")
    assert [prompt.name for prompt in found] == [prompt.name for prompt in list_prompts(language="en")]
    assert str(folder / "it" / "faithfulness.json") in capsys.readouterr().out


def test_the_command_says_when_a_translation_is_refused(
    translator: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line, and no file."""
    translator.answer = lambda request: {"texts": []}
    arguments = ["--language", "it", "--model", "openai/translator", "--api-base", translator.url]
    assert main(["judge", "prompts", "adapt", "--output", str(tmp_path), *arguments]) == 2
    assert "rejected" in capsys.readouterr().err
    assert list(tmp_path.rglob("*.json")) == []


def test_the_command_says_when_the_model_is_not_there(
    translator: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1: neither the input nor the configuration is wrong."""
    translator.fail_next(ServerError(status=401, code="invalid_api_key", message="bad key"))
    arguments = ["--language", "it", "--model", "openai/translator", "--api-base", translator.url]
    assert main(["judge", "prompts", "adapt", "--output", str(tmp_path), *arguments]) == 2
    assert "bad key" in capsys.readouterr().err
