"""Which names a judge may have, and what a name that is none of them was meant to be."""

from __future__ import annotations

from typing import Final

from rag_otel.settings.unknown import nearest

EMBEDDED: Final = "embedded"
_ALONE: Final = (EMBEDDED, "hhem")
"""Names that stand alone. Every other name has a provider or a kind in front: `openai/...`, `local/...`."""
_CASCADE: Final = "cascade/"
_PROVIDERS: Final = {
    "claude": "anthropic",
    "command": "cohere",
    "deepseek": "deepseek",
    "gemini": "gemini",
    "mistral": "mistral",
}
"""How a model's name begins -> its provider; of others, OpenAI's protocol is the most usual."""


def judge_problem(name: str) -> str | None:
    """What is wrong with the name of a judge, and what to write; None where the name may be one."""
    if name.startswith(_CASCADE):
        return judge_problem(name.removeprefix(_CASCADE))
    if name in _ALONE:
        return None
    provider, slash, model = name.partition("/")
    if slash and provider and model:
        return None
    meant = nearest(name, _ALONE)
    if meant is None and name:
        begin = next((known for known in _PROVIDERS if name.startswith(known)), "")
        meant = f"{_PROVIDERS.get(begin, 'openai')}/{name.strip('/')}"
    meant = meant or EMBEDDED
    return f"{name!r} names no provider: did you mean {meant}?"
