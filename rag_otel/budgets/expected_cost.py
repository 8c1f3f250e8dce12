"""What one evaluation will probably cost: by the judge's price at first, then by what evaluations have cost."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final, TypeAlias

from rag_otel.budgets.budget_limit import Unit
from rag_otel.errors import ConfigurationError
from rag_otel.model import Usage
from rag_otel.safety.background_import import until_imported

AskPrice: TypeAlias = Callable[[], tuple[float, float] | None]
"""US dollars for a million tokens in and a million out; None where the price is unknown. May block for seconds, and
raise ConfigurationError where the judge is none whose price can be asked."""
CHARACTERS_PER_TOKEN: Final = 4.0
"""Approximate, for English text."""
PROMPT_TOKENS: Final = 2_100
"""Input tokens of one call of a language model, without the judged text. Measured by benchmarks/judge_tokens.py for
faithfulness over examples/data."""
ANSWER_TOKENS: Final = 220
"""Output tokens of one call of a language model. Measured in the same way."""
_USD_PER_TOKEN: Final = 1e-6
"""Until a real price is known."""
_LEARNING: Final = 0.1
_USUAL_CHARACTERS: Final = 3_000


class ExpectedCost:
    """Mean cost of one evaluation. Thread-safe."""

    def __init__(self, ask_price: AskPrice | None) -> None:
        """`ask_price`: see `know_price`; None: the price is known after the first evaluation, which others wait for."""
        self._ask_price = ask_price
        self._prices: tuple[float, float] | None = None
        self._tokens_per_character: float | None = None
        self._usd_per_token: float | None = None
        self._characters: float | None = None
        self._lock = threading.RLock()
        self._first: tuple[str, float] | None = None
        """The evaluation that tells what one costs, and until when the others wait for it."""
        self._first_is_settled = False

    def amount(self, unit: Unit, *, characters: int | None = None, metrics: int) -> float:
        """Of the evaluation of a text of so many characters (None: of the usual length) by so many paid metrics."""
        if unit is Unit.EVALUATIONS:
            return 1.0
        with self._lock:
            length = characters if characters is not None else self._characters or _USUAL_CHARACTERS
            into, out = metrics * (length / CHARACTERS_PER_TOKEN + PROMPT_TOKENS), metrics * ANSWER_TOKENS
            tokens = into + out if self._tokens_per_character is None else self._tokens_per_character * length
            if unit is Unit.TOKENS:
                return tokens
            if self._usd_per_token is None and self._prices is not None:
                return (into * self._prices[0] + out * self._prices[1]) / 1e6
            return tokens * (self._usd_per_token or _USD_PER_TOKEN)

    def learn(self, characters: int, usage: Usage) -> None:
        """Count an evaluation that was settled."""
        tokens = usage.input_tokens + usage.output_tokens
        if not characters or not tokens:
            return
        with self._lock:
            self._tokens_per_character = _mean(self._tokens_per_character, tokens / characters)
            self._characters = _mean(self._characters, characters)
            if usage.cost_usd is not None:
                self._usd_per_token = _mean(self._usd_per_token, usage.cost_usd / tokens)

    async def know_price(self) -> bool:
        """Asks for the judge's price, on another thread, if nobody has; False where it is unknown. A judge whose price
        cannot be asked is asked for one answer first (`may_begin`)."""
        if (ask := self._ask_price) is None:
            return True
        await until_imported()  # what knows prices is imported with the judge, and nowhere else
        try:
            self._prices = await asyncio.to_thread(ask)
        except ConfigurationError:
            self._ask_price = None
            return True
        self._ask_price = None
        return self._prices is not None

    def may_begin(self, name: str, longest_s: float) -> bool:
        """Of a judge whose price is unknown one evaluation is made. The others wait until it is settled, or for
        `longest_s` seconds: then another one is the first."""
        now = time.monotonic()
        with self._lock:
            if self._first_is_settled or self._prices is not None:
                return True
            if self._first is None or self._first[1] <= now:
                self._first = name, now + longest_s
            return self._first[0] == name

    def is_over(self, name: str, *, settled: bool) -> None:
        """The evaluation is settled; or it does not begin, and if it was to be the first, another one is."""
        with self._lock:
            if self._first is not None and self._first[0] == name:
                self._first, self._first_is_settled = None, settled

    def after_fork(self) -> None:
        """The evaluations under way are the parent's."""
        self._lock = threading.RLock()
        self._first = None


def _mean(before: float | None, value: float) -> float:
    return value if before is None else before + _LEARNING * (value - before)
