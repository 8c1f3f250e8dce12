"""What a model says of one claim, in whatever form it writes that."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator


def _plain(value: Any) -> Any:
    """`Not enough info` and `NOT-ENOUGH-INFO` as the word that was asked for."""
    return "_".join(value.casefold().replace("-", " ").split()) if isinstance(value, str) else value


def _probability(value: Any) -> Any:
    """None for what is no probability: a malformed confidence must not discard the verdict beside it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0.0 <= number <= 1.0 else None


def _texts(value: Any) -> Any:
    """A lone id as a list of one; null as none; numbers and objects (`{"chunk": 0, "sentence": 1}`) as ids."""
    if value is None:
        return []
    return [_as_text(each) for each in (value if isinstance(value, list) else [value])]


def _as_text(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    named = [str(value[key]) for key in ("id", "quote", "text") if value.get(key)]
    numbers = [str(value[key]).lstrip("cCsS") for key in ("chunk", "sentence") if value.get(key) is not None]
    return named[0] if named else "c" + ".s".join(numbers)


def _words(value: Any) -> Any:
    return "" if value is None else value


class ClaimAnswer(BaseModel):
    """What the model says of one claim. The order is the order of writing: evidence and reason before the verdict."""

    claim: int
    evidence: Annotated[list[str], BeforeValidator(_texts)]
    reason: str = ""
    unsupported_span: Annotated[str, BeforeValidator(_words)] = ""
    """The words of the claim that the chunks do not support; empty where they support all of it."""
    verdict: Annotated[Literal["supported", "contradicted", "not_enough_info"], BeforeValidator(_plain)]
    confidence: Annotated[float | None, BeforeValidator(_probability)] = None
    """The model's own probability that its verdict is right, 0..1."""

    @property
    def index(self) -> int:
        return self.claim

    @property
    def decision(self) -> str:
        return self.verdict
