"""What is known of the providers of decision models: address, key, dialect, limits, prices.

The dialect follows from the provider, never from the path: `/v1/decisions` is OpenAI's form at OpenAI and System One's
at Perplexity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rag_otel_evaluators.llm.decisions.dialects import OPENAI, SYSTEM_ONE, DecisionDialect

PREFIX: Final = "decisions/"
"""Begins the name of a judge that is a decision model: `decisions/openai/gpt-6-luna`."""
PRICED_ON: Final = "2026-11-23"
"""Day on which `PRICES` was read off the sources named there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """What one request may hold. Sizes are bytes of UTF-8: a token is taken to be three."""

    questions: int
    state: int
    request: int
    """State and questions together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider, or one kind of server."""

    dialect: DecisionDialect
    path: str
    """Behind the address."""
    key: str
    """Environment variable of the key."""
    address: str | None = None
    """None: the server is the user's own."""
    limits: RequestLimits
    refuses_whole: bool = False
    """One refused question fails the whole request."""


_JEV: Final = RequestLimits(questions=400, state=90_000, request=190_000)
"""32,768 tokens of state and longest question, 65,536 in all."""
PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(
        dialect=OPENAI,
        path="decisions",
        key="OPENAI_API_KEY",
        address="https://api.openai.com/v1",
        limits=RequestLimits(questions=400, state=250_000, request=750_000),  # input_json: 256 KiB
    ),
    "typesafe": Provider(
        dialect=SYSTEM_ONE,
        path="systemone",
        key="TYPESAFE_API_KEY",
        address="https://api.typesafe.ai/v1",
        limits=_JEV,
    ),
    "openrouter": Provider(
        dialect=SYSTEM_ONE,
        path="systemone",
        key="OPENROUTER_API_KEY",
        address="https://openrouter.ai/api/v1",
        limits=RequestLimits(questions=128, state=90_000, request=190_000),
        refuses_whole=True,
    ),
    "perplexity": Provider(
        dialect=SYSTEM_ONE,
        path="decisions",
        key="PERPLEXITY_API_KEY",
        address="https://api.perplexity.ai/v1",
        limits=RequestLimits(questions=128, state=500_000, request=700_000),
    ),
    "systemone": Provider(
        dialect=SYSTEM_ONE,
        path="systemone",
        key="SYSTEMONE_API_KEY",
        limits=RequestLimits(questions=64, state=40_000, request=60_000),  # vLLM: 64 questions; Ollama: 64 KiB
    ),
}
OTHERS: Final = RequestLimits(questions=128, state=90_000, request=190_000)
"""Of providers that are asked through litellm, which takes 128 questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPrice:
    """US dollars for a million tokens of input; output is free."""

    usd: float
    cached_usd: float | None = None
    """Of tokens that the provider had cached; None: as others."""
    source: str


_OPENAI_PRICE: Final = PublishedPrice(usd=0.10, cached_usd=0.01, source="litellm's map of OpenAI's prices")
_JEV_PRICE: Final = PublishedPrice(usd=0.042, source="docs.typesafe.ai")
_OPENROUTER: Final = "openrouter.ai/models"
PRICES: Final[Mapping[str, PublishedPrice]] = {
    "openai/gpt-6-luna": _OPENAI_PRICE,
    "typesafe/jev-": _JEV_PRICE,
    "openrouter/jev-": PublishedPrice(usd=0.042, source=_OPENROUTER),
    "openrouter/typesafe/jev-": PublishedPrice(usd=0.042, source=_OPENROUTER),
    "openrouter/openai/gpt-6-luna": PublishedPrice(usd=0.10, source=_OPENROUTER),
    "openrouter/liquid/d1.1": PublishedPrice(usd=0.02, source=_OPENROUTER),
    "openrouter/inception/mercury-decide": PublishedPrice(usd=0.02, source=_OPENROUTER),
    "perplexity/pplx-decider-flash": PublishedPrice(usd=0.01, source="docs.perplexity.ai"),
    "perplexity/pplx-decider": PublishedPrice(usd=0.02, source="docs.perplexity.ai"),
}
"""Beginning of a model's name -> its price; the longest that fits counts."""


def price_of(model: str) -> PublishedPrice | None:
    """The price of `<provider>/<model>`, by the table; None where it holds none."""
    known = [name for name in PRICES if model.startswith(name)]
    return PRICES[max(known, key=len)] if known else None
