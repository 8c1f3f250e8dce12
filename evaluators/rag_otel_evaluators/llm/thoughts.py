"""Models that think before they answer: their thoughts are set aside, and have room in the output budget.

A thinking model behind any server may write its thoughts into the answer (`<think>...</think>`), or into a field of
their own, and its server may count both as output. A grammar that begins with the first token forbids them.
"""

from __future__ import annotations

import re
from typing import Final

REASONING_TOKENS: Final = 4_000
"""Room on top of the budget for models that think before they answer: their thoughts count as output."""

_TAGS: Final = r"think|thinking|thought|reasoning|reflection|seed:think"
_OPEN: Final = re.compile(rf"<(?:{_TAGS})>|\[THINK\]|◁think▷|<\|channel\|>\s*analysis", re.IGNORECASE)
_END: Final = re.compile(
    rf"</(?:{_TAGS})>|\[/THINK\]|◁/think▷|<\|channel\|>\s*final\s*(?:<\|constrain\|>\w*)?<\|message\|>",
    re.IGNORECASE,
)
_MARK: Final = re.compile(r"<\|(?:end|return|start|im_end|eot_id)\|>")

_THINKS_ALOUD: Final = re.compile(
    r"qwen-?3(?!.*(?:instruct|coder|embed))|qwq|deepseek-?(?:r1|reasoner)|gpt-oss|magistral|[-_/]think(?:ing)?\b"
    r"|phi-4.*reasoning|glm-(?:4\.[5-9]|z1)|minimax-m|exaone-deep|nemotron.*nano|seed-oss|skywork-or1|reasoner",
    re.IGNORECASE,
)


def thinks_aloud(model: str) -> bool:
    """True for models, by name, that write their thoughts first: they are not held to a grammar, which would forbid
    the thoughts, and have `REASONING_TOKENS` of room from the start."""
    return bool(_THINKS_ALOUD.search(model))


def thinks(text: str) -> bool:
    """True where an answer that was cut off holds thoughts, or nothing: a server may keep them to itself."""
    return not text.strip() or bool(_OPEN.search(text) or _END.search(text))


def without_thoughts(text: str) -> str:
    """What is said after the thoughts. Thoughts that never end leave what stands before them; a text without any is
    left as it is.

    A chat template may open the thoughts itself, so that an answer begins inside them and only their end is there.
    """
    ends = list(_END.finditer(text))
    said = text[ends[-1].end() :] if ends else ""
    if not said.strip():
        begin = _OPEN.search(text)
        said = text if begin is None else text[: begin.start()]
    return _MARK.sub("", said)
