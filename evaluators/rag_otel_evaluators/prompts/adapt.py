"""Adapts a prompt to another language with a language model. Only the texts change, not the structure.

The model gets the texts of the examples as a numbered list and returns a translation for each number. The translations
are inserted at the places of the original texts. So the model cannot change keys, lengths of lists, numbers and
identifiers (`supported`, `c0.s1`). A translation is rejected if a text is missing or lacks a marker.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from rag_otel.errors import ConfigurationError, InputError
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.prompts.numbered_items import AnswerForm, ask_about_each
from rag_otel_evaluators.prompts.prompt import LANGUAGE_PATTERN, Example, Prompt

_IDENTIFIER: Final = re.compile(r"[a-z0-9_.-]*")
"""Never translated: one lower-case ASCII word is an id (`c0.s1`) or a word of a fixed vocabulary (`supported`); and
what is empty stays empty."""
_MARKER: Final = re.compile(r"`[^`]+`|\{[a-z_]+\}|\[c?\d+(?:\.s\d+)?\]")
"""Parts that a translation must keep: text in backticks, placeholders, numbers of items."""
_TOKENS_PER_CHARACTER: Final = 1.0
"""Output tokens per character. High enough for scripts in which a character takes a whole token."""

_TRANSLATOR: Final = Prompt(
    name="translation",
    instruction="""
You adapt the texts of worked examples to another language, which is given by its code (`it`: Italian).
Write what a native speaker would have written: idiomatic, with that language's punctuation, numbers and dates.
The facts stay as they are: texts that agree or disagree must go on doing so. Use the same words for the same things.
Leave everything between backticks, in braces or in brackets (`[c0.s1]`) exactly as it is.
Return one text for each numbered text, in their order; leave none out, add none, and explain nothing.
""".strip(),
)


class TranslatedText(BaseModel):
    """One text in the new language."""

    number: int
    text: str

    @property
    def index(self) -> int:
        return self.number

    @property
    def decision(self) -> str:
        return self.text


class TranslatedTexts(BaseModel):
    """What the model returns."""

    texts: list[TranslatedText]


async def adapt_prompt(
    prompt: Prompt, language: str, model: StructuredModel, *, with_instruction: bool = False
) -> Prompt:
    """Returns `prompt` with its examples translated to `language` by `model`. With `with_instruction`, also the
    instruction.

    The result has the same name, version, and structure of the examples. Raises InputError if the translation does not
    keep them, ConfigurationError if `language` is not a language code (BCP 47, lower case), RetryableError or
    PermanentError if the model cannot be reached.
    """
    if not re.match(LANGUAGE_PATTERN, language):
        raise ConfigurationError(f"{language!r} is not a language code; examples: it, pt-br")
    texts = _texts(prompt, with_instruction)
    longest = max(map(len, texts), default=0)
    answers = await ask_about_each(
        model,
        _TRANSLATOR,
        {"language": language, "texts": texts},
        items="texts",
        form=AnswerForm(
            response_model=TranslatedTexts,
            answers=lambda response: response.texts,
            number="number",
            tokens_per_item=round(longest * _TOKENS_PER_CHARACTER) + 20,
        ),
    )
    translations = {texts[index]: _restored(answer.text.strip()) for index, answer in answers.by_index.items()}
    adapted = Prompt(
        name=prompt.name,
        version=prompt.version,
        language=language,
        vary_examples=prompt.vary_examples,
        instruction=translations.get(prompt.instruction, prompt.instruction),
        examples=tuple(
            Example(
                input=_map_texts(example.input, lambda text: translations.get(text, "")),
                output=_map_texts(example.output, lambda text: translations.get(text, "")),
            )
            for example in prompt.examples
        ),
    )
    problems = [*_lost(texts, translations), *structure_problems(prompt, adapted)]
    if problems:
        raise InputError(f"{model.name}: the translation of {prompt.name} to {language!r} is rejected: {problems[0]}")
    return adapted


def structure_problems(original: Prompt, adapted: Prompt) -> list[str]:
    """Returns the differences between the structures of `adapted` and `original`. Empty if there are none.

    These must be equal: the number of examples, their keys in order, the length of every list, and every number,
    boolean and identifier. No text may be empty.
    """
    if len(original.examples) != len(adapted.examples):
        return [f"{len(adapted.examples)} examples instead of {len(original.examples)}"]
    pairs = zip(original.examples, adapted.examples, strict=True)
    return [
        problem
        for number, (first, second) in enumerate(pairs)
        for problem in (
            *_differences(first.input, second.input, f"examples.{number}.input"),
            *_differences(first.output, second.output, f"examples.{number}.output"),
        )
    ]


def _differences(first: Any, second: Any, place: str) -> Iterator[str]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        if list(first) != list(second):
            yield f"{place}: keys {list(second)} instead of {list(first)}"
        else:
            for key in first:
                yield from _differences(first[key], second[key], f"{place}.{key}")
    elif isinstance(first, list | tuple) and isinstance(second, list | tuple):
        if len(first) != len(second):
            yield f"{place}: {len(second)} items instead of {len(first)}"
        else:
            for index, (one, other) in enumerate(zip(first, second, strict=True)):
                yield from _differences(one, other, f"{place}.{index}")
    elif isinstance(first, str) and isinstance(second, str) and not _IDENTIFIER.fullmatch(first):
        if not second.strip():
            yield f"{place}: no text"
    elif type(first) is not type(second) or first != second:
        yield f"{place}: {second!r} instead of {first!r}"


def _restored(text: str) -> str:
    """The text without the marks of a text to be judged: what is translated here is a prompt, and its ids are ids."""
    return text.replace("［", "[").replace("］", "]").replace("\n    ", "\n")


def _lost(texts: Sequence[str], translations: Mapping[str, str]) -> Iterator[str]:
    """Yields a problem for each text without a translation, or whose translation lacks a marker."""
    for text in texts:
        if not translations.get(text):
            yield f"no translation of {text!r}"
        elif Counter(_MARKER.findall(text)) != Counter(_MARKER.findall(translations[text])):
            yield f"{translations[text]!r} does not keep the markers of {text!r}"


def _texts(prompt: Prompt, with_instruction: bool) -> list[str]:
    """The distinct texts to translate, in order."""
    found = [prompt.instruction] if with_instruction else []

    def note(text: str) -> str:
        found.append(text)
        return text

    for example in prompt.examples:
        _map_texts(example.input, note)
        _map_texts(example.output, note)
    return list(dict.fromkeys(found))


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Returns `value` with `change` applied to every text. Identifiers, numbers and keys stay."""
    if isinstance(value, Mapping):
        return {key: _map_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map_texts(item, change) for item in value]
    if isinstance(value, str) and not _IDENTIFIER.fullmatch(value):
        return change(value)
    return value
