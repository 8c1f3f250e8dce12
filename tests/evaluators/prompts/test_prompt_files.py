"""The built-in prompts: whole, of one structure in every language, and their texts versioned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rag_otel_evaluators.metrics.context_precision import ChunkVerdicts
from rag_otel_evaluators.metrics.context_recall import Attributions
from rag_otel_evaluators.metrics.context_relevance import Ratings
from rag_otel_evaluators.metrics.critics import AspectAnswer, RubricAnswer
from rag_otel_evaluators.metrics.factual_correctness import Statements
from rag_otel_evaluators.metrics.noise_sensitivity import Origins
from rag_otel_evaluators.metrics.response_relevancy import GeneratedQuestions
from rag_otel_evaluators.prompts import Prompt, list_prompts, load_prompt
from rag_otel_evaluators.prompts.adapt import structure_problems

PROMPTS = list_prompts()
NAMES = sorted({prompt.name for prompt in PROMPTS})
PINNED = Path(__file__).with_name("pinned_hashes.json")

RESPONSE_MODELS: dict[str, type[BaseModel]] = {
    "context_precision": ChunkVerdicts,
    "context_recall": Attributions,
    "context_relevance_first": Ratings,
    "context_relevance_second": Ratings,
    "response_relevancy": GeneratedQuestions,
    "factual_correctness": Statements,
    "noise_sensitivity": Origins,
    "aspect": AspectAnswer,
    "rubric": RubricAnswer,
}


def identify(prompt: Prompt) -> str:
    """A test's name."""
    return f"{prompt.name}-{prompt.language}"


@pytest.mark.parametrize("language", ["en", "es", "de", "fr", "zh"])
def test_every_language_has_every_prompt(language: str) -> None:
    """No metric works in one language only."""
    assert [prompt.name for prompt in list_prompts(language=language)] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_spanish_instructions_are_their_own(name: str) -> None:
    """English and Spanish are complete: no Spanish prompt falls back to the English instruction."""
    assert load_prompt(name, "es").instruction != load_prompt(name, "en").instruction


@pytest.mark.parametrize("prompt", PROMPTS, ids=identify)
def test_every_language_has_the_same_structure(prompt: Prompt) -> None:
    """The same number of examples, keys, lengths, numbers and identifiers as in English, and no empty text."""
    assert structure_problems(load_prompt(prompt.name), prompt) == []


@pytest.mark.parametrize("prompt", [p for p in PROMPTS if p.language != "en"], ids=identify)
def test_examples_are_native(prompt: Prompt) -> None:
    """No text of an example is left in English."""
    english = set(texts_of(load_prompt(prompt.name).examples[0].model_dump()))
    own = [text for example in prompt.examples for text in texts_of(example.model_dump())]
    assert [text for text in own if text in english and " " in text] == []


def texts_of(value: Any) -> list[str]:
    """Every string in a nested value."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts_of(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in texts_of(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("prompt", [p for p in PROMPTS if p.name in RESPONSE_MODELS], ids=identify)
def test_examples_are_answers_that_we_would_accept(prompt: Prompt) -> None:
    """Each example's output is a valid response of its metric, with exactly the keys that it shows."""
    for example in prompt.examples:
        answer = RESPONSE_MODELS[prompt.name].model_validate(dict(example.output))
        assert answer.model_dump() == example.output


@pytest.mark.parametrize("prompt", [p for p in PROMPTS if p.name == "faithfulness"], ids=identify)
def test_examples_point_at_sentences_that_exist(prompt: Prompt) -> None:
    """A judge copies what it is shown: every claim once, in order, with evidence out of the numbered sentences."""
    for example in prompt.examples:
        sentences = {f"c{c}.s{s}" for c, chunk in enumerate(example.input["chunks"]) for s, _ in enumerate(chunk)}
        verdicts = example.output["verdicts"]
        assert [verdict["claim"] for verdict in verdicts] == list(range(len(example.input["claims"])))
        assert {evidence for verdict in verdicts for evidence in verdict["evidence"]} <= sentences
        assert {verdict["verdict"] for verdict in verdicts} == {"supported", "contradicted", "not_enough_info"}


@pytest.mark.parametrize("prompt", PROMPTS, ids=identify)
def test_a_changed_text_has_a_new_version(prompt: Prompt) -> None:
    """A text that is changed under its old version makes scores incomparable in silence: raise the version, then
    pin the new hash in pinned_hashes.json."""
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    assert pinned[f"{prompt.name}/{prompt.language}@{prompt.version}"] == prompt.hash
