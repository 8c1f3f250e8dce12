"""Finding, saving and replacing prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.prompts import Prompt, list_prompts, load_prompt, save_prompt


def test_a_saved_prompt_is_read_back(tmp_path: Path) -> None:
    """To the same prompt, and to the same bytes."""
    for prompt in list_prompts():
        file = save_prompt(prompt, tmp_path)
        loaded = load_prompt(prompt.name, prompt.language, folder=tmp_path)
        assert loaded == prompt
        assert loaded.hash == prompt.hash
        assert save_prompt(loaded, tmp_path / "again").read_bytes() == file.read_bytes()


def test_a_folder_goes_before_what_is_built_in(tmp_path: Path) -> None:
    """One prompt is replaced, the others stay."""
    mine = Prompt(name="context_recall", version="mine", instruction="Judge kindly.")
    save_prompt(mine, tmp_path)
    assert load_prompt("context_recall", folder=tmp_path) == mine
    assert load_prompt("faithfulness", folder=tmp_path) == load_prompt("faithfulness")
    assert mine in list_prompts(folder=tmp_path)


@pytest.mark.parametrize(("asked", "found"), [("es-MX", "es"), ("zh_Hant_TW", "zh"), ("EN", "en")])
def test_a_regional_language_falls_back(asked: str, found: str) -> None:
    """To the language without its region, written in any case."""
    assert load_prompt("faithfulness", asked).language == found


@pytest.mark.parametrize("language", ["de", "fr", "zh"])
def test_a_language_with_examples_only_takes_the_english_instruction(language: str) -> None:
    """Also where a folder replaces that instruction."""
    assert load_prompt("faithfulness", language).instruction == load_prompt("faithfulness").instruction
    assert load_prompt("faithfulness", language).examples != load_prompt("faithfulness").examples


@pytest.mark.parametrize(
    ("name", "language", "message"),
    [
        ("faithfulness", "tlh", "adapt --language tlh"),
        ("no_such_prompt", "en", "context_precision"),
        ("../en/faithfulness", "en", "there are"),
        ("faithfulness", "../en", "it exists in: de, en"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(name: str, language: str, message: str) -> None:
    """The error names the way out, and no name leads out of the folder."""
    with pytest.raises(ConfigurationError, match=message):
        load_prompt(name, language)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not a prompt file"),
        ("[]", "file"),
        ('{"name": "faithfulness", "language": "en"}', "instruction"),
        ('{"name": "faithfulness", "language": "en", "instruction": [1]}', "instruction"),
        ('{"name": "faithfulness", "language": "en", "instruction": "x", "exmaples": []}', "exmaples"),
        ('{"name": "other", "language": "en", "instruction": "x"}', "must match its path"),
        ('{"name": "faithfulness", "language": "es", "instruction": "x"}', "must match its path"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    """The error tells the file and what is wrong in it."""
    file = tmp_path / "en" / "faithfulness.json"
    file.parent.mkdir()
    file.write_text(content)
    with pytest.raises(ConfigurationError, match=message) as error:
        load_prompt("faithfulness", folder=tmp_path)
    assert str(file) in str(error.value)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A misspelt folder must not fall back to the built-in prompts in silence."""
    with pytest.raises(ConfigurationError, match="no such folder"):
        load_prompt("faithfulness", folder=tmp_path / "typo")


def test_files_read_line_by_line(tmp_path: Path) -> None:
    """An instruction is a list of lines in the file, so that a change shows as the lines that changed."""
    file = save_prompt(Prompt(name="n", instruction="one\ntwo"), tmp_path)
    assert json.loads(file.read_text(encoding="utf-8"))["instruction"] == ["one", "two"]
