"""`rag-otel judge prompts`: list, show and save."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_otel.cli.main import main
from rag_otel_evaluators.prompts import list_prompts, load_prompt


def test_list_shows_every_prompt_with_its_hash(capsys: pytest.CaptureFixture[str]) -> None:
    """One row a prompt and language."""
    assert main(["judge", "prompts", "list"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[:4] for row in rows] == [[p.name, p.language, p.version, p.hash] for p in list_prompts()]


def test_show_prints_what_a_model_gets(capsys: pytest.CaptureFixture[str]) -> None:
    """Instruction and examples as they are sent."""
    assert main(["judge", "prompts", "show", "context_recall", "--language", "es"]) == 0
    shown = capsys.readouterr().out
    prompt = load_prompt("context_recall", "es")
    assert prompt.reference in shown
    assert all(message.content in shown for message in prompt.messages({})[:-1])


def test_save_writes_a_folder_that_replaces_the_built_in_prompts(tmp_path: Path) -> None:
    """A saved file that is changed is what is shown from then on."""
    assert main(["judge", "prompts", "save", str(tmp_path), "--language", "es", "--name", "context_recall"]) == 0
    (file,) = tmp_path.rglob("*.json")
    file.write_text(file.read_text(encoding="utf-8").replace("Comprueba", "Compruebe usted"), encoding="utf-8")
    assert load_prompt("context_recall", "es", folder=tmp_path).instruction.startswith("Compruebe usted")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nothing"], "there are: aspect, context_precision"),
        (["show", "faithfulness", "--language", "xx"], "it exists in: de, en"),
        (["save", "unused", "--name", "nothing"], "there are: aspect, context_precision"),
        (["save", "unused", "--language", "xx"], "it exists in: de, en"),
        (["save", "/dev/null/prompts", "--language", "es"], "aspect.json cannot be written: Not a directory"),
        (["list", "--folder", "no/such/folder"], "no such folder"),
    ],
)
def test_what_is_not_there_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the names that exist."""
    assert main(["judge", "prompts", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not Path("unused").exists()
