"""Finds prompts: first in the user's folder, then among the built-in files. Layout: `<language>/<name>.json`.

English and Spanish are complete. A prompt in another language may have examples without an instruction. It then uses
the English instruction, which judge models follow at least as well. The hash of a prompt covers the instruction in use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.prompts.prompt import LANGUAGE_PATTERN, NAME_PATTERN, Prompt

BASE_LANGUAGE: Final = "en"


def load_prompt(name: str, language: str = BASE_LANGUAGE, *, folder: Path | str | None = None) -> Prompt:
    """Returns the prompt `name` in `language` (`es-mx` falls back to `es`), from `folder` if it has the prompt, else
    the built-in one.

    Raises ConfigurationError for an unknown name or language (the message lists the known ones), and for a file that
    cannot be read.
    """
    wanted = language.lower().replace("_", "-")
    if re.match(NAME_PATTERN, name) and re.match(LANGUAGE_PATTERN, wanted):
        for root in _roots(folder):
            for candidate in _from_special_to_general(wanted):
                file = root.joinpath(candidate, f"{name}.json")
                if file.is_file():
                    return _read(file, name, candidate, folder)
    raise ConfigurationError(_not_found(name, language, folder))


def choose_prompts(
    names: Sequence[str], replacements: Sequence[Prompt | None], language: str, folder: Path | str | None
) -> list[Prompt]:
    """Returns the prompts `names`. Each is the replacement of that name, else the prompt in `folder`, else the built-in
    one.

    Raises ConfigurationError if a prompt does not exist in the language, and for a replacement with another name.
    """
    given = {prompt.name: prompt for prompt in replacements if prompt is not None}
    if unknown := given.keys() - set(names):
        raise ConfigurationError(
            f"this metric uses the prompts {', '.join(names)}, and none called {', '.join(sorted(unknown))}"
        )
    return [given.get(name) or load_prompt(name, language, folder=folder) for name in names]


def list_prompts(*, folder: Path | str | None = None, language: str | None = None) -> list[Prompt]:
    """Returns all prompts that `load_prompt` finds, sorted by name and language. Prompts in `folder` replace built-in
    ones."""
    found = {(name, code) for root in _roots(folder) for code, name in _files(root)}
    return [load_prompt(name, code, folder=folder) for name, code in sorted(found) if language in (None, code)]


def save_prompt(prompt: Prompt, folder: Path | str) -> Path:
    """Writes the prompt to the file that `load_prompt(..., folder=folder)` reads. Returns the file's path.

    Raises ConfigurationError if it cannot be written.
    """
    file = Path(folder, prompt.language, f"{prompt.name}.json")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(prompt_to_json(prompt), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror}") from error
    return file


def prompt_to_json(prompt: Prompt) -> str:
    """The text of a prompt file: indented JSON, with the instruction as a list of lines and without escapes."""
    content = prompt.model_dump() | {"instruction": prompt.instruction.split("\n")}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _read(file: Traversable, name: str, language: str, folder: Path | str | None) -> Prompt:
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and "instruction" not in content and language != BASE_LANGUAGE:
            content["instruction"] = load_prompt(name, BASE_LANGUAGE, folder=folder).instruction
        prompt = Prompt.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(f"{file}: {problems}") from error
    except (OSError, ValueError) as error:  # ValueError: JSON or UTF-8
        raise ConfigurationError(f"{file}: not a prompt file ({error})") from error
    if (prompt.name, prompt.language) != (name, language):
        raise ConfigurationError(
            f"{file}: contains the prompt {prompt.name!r} in {prompt.language!r}; name and language must match its path"
        )
    return prompt


def _roots(folder: Path | str | None) -> Iterator[Traversable]:
    if folder is not None:
        path = Path(folder)
        if not path.is_dir():
            raise ConfigurationError(
                f"{path}: no such folder of prompts; `rag-otel judge prompts save {path}` creates it"
            )
        yield path
    yield resources.files(__package__)


def _files(root: Traversable) -> Iterator[tuple[str, str]]:
    """Yields (language, name) of every prompt file below `root`."""
    for language in root.iterdir():
        if language.is_dir() and re.match(LANGUAGE_PATTERN, language.name):
            for file in language.iterdir():
                name, dot, extension = file.name.partition(".")
                if dot and extension == "json" and re.match(NAME_PATTERN, name):
                    yield language.name, name


def _from_special_to_general(language: str) -> Iterator[str]:
    """Yields the language, then its more general forms: `zh-hant-tw`, `zh-hant`, `zh`."""
    parts = language.split("-")
    for length in range(len(parts), 0, -1):
        yield "-".join(parts[:length])


def _not_found(name: str, language: str, folder: Path | str | None) -> str:
    pairs = [pair for root in _roots(folder) for pair in _files(root)]
    languages = sorted({code for code, known in pairs if known == name})
    if not languages:
        return f"no prompt is called {name!r}; there are: {', '.join(sorted({known for _, known in pairs}))}"
    return (
        f"the prompt {name!r} does not exist in {language!r}; it exists in: {', '.join(languages)}. "
        f"To create it: rag-otel judge prompts adapt --language {language} --model NAME"
    )
