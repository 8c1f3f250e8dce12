"""`rag-otel judge prompts`: lists, shows, saves and translates the prompts of the judges."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from rag_otel.cli.terminal import CommandResult, progress, table

if TYPE_CHECKING:
    from rag_otel_evaluators.prompts import Prompt


def configure_list(parser: argparse.ArgumentParser) -> None:
    _folder_option(parser)
    parser.add_argument("--language", help="only this language")


def run_list(arguments: argparse.Namespace) -> CommandResult:
    """A row for each prompt."""
    from rag_otel_evaluators.prompts import list_prompts

    prompts = list_prompts(folder=arguments.folder, language=arguments.language)
    rows = [[p.name, p.language, p.version, p.hash, str(len(p.examples))] for p in prompts]
    return CommandResult(text=table(rows, header=["name", "language", "version", "hash", "examples"], indent=""))


def configure_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--language", default="en", help="default: en")
    _folder_option(parser)


def run_show(arguments: argparse.Namespace) -> CommandResult:
    """A prompt without its last message, which contains the text to be judged."""
    from rag_otel_evaluators.prompts import load_prompt

    prompt = load_prompt(arguments.name, arguments.language, folder=arguments.folder)
    messages = [f"\n--- {message.role}\n{message.content}" for message in prompt.messages({})[:-1]]
    return CommandResult(text="\n".join([prompt.reference, *messages]))


def configure_save(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--language", help="only this language")
    parser.add_argument("--name", action="append", help="only this prompt (may be repeated)")


def run_save(arguments: argparse.Namespace) -> CommandResult:
    """Writes prompts into a folder."""
    from rag_otel_evaluators.prompts import save_prompt

    saved = [save_prompt(prompt, arguments.folder) for prompt in _chosen(arguments.name, arguments.language)]
    return CommandResult(
        text=f"{len(saved)} prompts in {arguments.folder}: change them there and set `prompts` to this folder"
    )


def configure_adapt(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--language", required=True, help="the new language's code: it, pt-br, ...")
    parser.add_argument("--model", required=True, help="the model that translates: openai/gpt-4o-mini, ollama/..., ...")
    parser.add_argument("--api-base", help="address of a server with OpenAI's API")
    parser.add_argument("--source", default="en", metavar="LANGUAGE", help="language to adapt from; default: en")
    parser.add_argument("--name", action="append", help="only this prompt (may be repeated)")
    parser.add_argument("--instruction", action="store_true", help="adapt the instruction too, not only the examples")
    parser.add_argument("--output", type=Path, default=Path("prompts"), metavar="DIR", help="default: ./prompts")


def run_adapt(arguments: argparse.Namespace) -> int:
    """Writes adapted prompts. Raises RetryableError or PermanentError where the model does not answer."""
    from rag_otel_evaluators.judges.language_model import language_model
    from rag_otel_evaluators.prompts import save_prompt
    from rag_otel_evaluators.prompts.adapt import adapt_prompt

    model = language_model(arguments.model, api_base=arguments.api_base)
    chosen = _chosen(arguments.name, arguments.source)

    async def adapt_all() -> None:
        for prompt in progress(chosen, total=len(chosen), description="adapting"):
            adapted = await adapt_prompt(prompt, arguments.language, model, with_instruction=arguments.instruction)
            print(save_prompt(adapted, arguments.output))

    asyncio.run(adapt_all())
    return 0


def _folder_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, metavar="DIR", help="folder of prompts that replace built-in ones")


def _chosen(names: list[str] | None, language: str | None) -> list[Prompt]:
    """The built-in prompts with these names in this language. None: all names, or all languages.

    Raises ConfigurationError for an unknown name or language.
    """
    from rag_otel_evaluators.prompts import list_prompts, load_prompt

    for name in names or ["faithfulness"]:
        load_prompt(name, language or "en")  # raises an error that lists the names and languages that exist
    return [prompt for prompt in list_prompts(language=language) if not names or prompt.name in names]
