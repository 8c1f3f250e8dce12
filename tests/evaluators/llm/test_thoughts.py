"""Thoughts are set aside, wherever a server leaves them."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from rag_otel_evaluators.llm.parsing import read_answer
from rag_otel_evaluators.llm.thoughts import thinks_aloud, without_thoughts


class Answer(BaseModel):
    verdicts: list[int]


GOOD = '{"verdicts": [1, 2]}'
DRAFT = 'Perhaps {"verdicts": [9]} or {"verdicts": [9, 9, 9, 9, 9, 9, 9]}?'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{DRAFT}</think>\n{GOOD}",
        f"<THINKING>\n{DRAFT}\n</THINKING>{GOOD}",
        f"{DRAFT}</think>\n\n{GOOD}",  # the chat template had opened them
        f"<think>{DRAFT}</think>once more<think>{DRAFT}</think>{GOOD}",
        f"[THINK]{DRAFT}[/THINK]{GOOD}",
        f"◁think▷{DRAFT}◁/think▷{GOOD}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}<|return|>",
        f"{GOOD}<think>{DRAFT}",
        f"```json\n{GOOD}\n```",
    ],
)
def test_a_draft_among_the_thoughts_is_not_the_answer(text: str) -> None:
    """Only what is said after them counts."""
    assert read_answer(text, Answer).value == Answer(verdicts=[1, 2])


def test_thoughts_that_never_end_leave_nothing() -> None:
    """The budget ran out among them."""
    assert read_answer(f"<think>{DRAFT}", Answer).value is None


@pytest.mark.parametrize("text", ["<think>" * 40_000, "</think>" * 40_000, "[THINK]" * 40_000, "<|channel|>" * 40_000])
def test_hostile_thoughts_are_read_in_no_time(text: str) -> None:
    """No pattern looks for an end from every beginning."""
    assert read_answer(text, Answer).value is None
    assert len(without_thoughts(text)) <= len(text)


@pytest.mark.parametrize(
    ("name", "aloud"),
    [
        ("openai/Qwen/Qwen3-8B", True),
        ("ollama/qwen3:8b", True),
        ("hosted_vllm/openai/gpt-oss-20b", True),
        ("deepseek/deepseek-reasoner", True),
        ("ollama/deepseek-r1:14b", True),
        ("openai/Qwen3-30B-A3B-Thinking-2507", True),
        ("openai/Qwen3-30B-A3B-Instruct-2507", False),
        ("openai/gpt-4o-mini", False),
        ("openai/o3-mini", False),
        ("anthropic/claude-sonnet-4-5", False),
        ("deepseek/deepseek-chat", False),
    ],
)
def test_models_that_think_aloud_are_known_by_name(name: str, aloud: bool) -> None:
    """They are asked in words: a grammar from the first token on would forbid their thoughts."""
    assert thinks_aloud(name) is aloud
