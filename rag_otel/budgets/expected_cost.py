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
from rag_otel.safety.fork import after_fork_in_child

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
_NEWEST: Final = 0.1
"""Weight of the newest value in a mean of recent ones."""
_USD_PER_TOKEN: Final = 1e-6
"""Until a real price is known."""
_USUAL_CHARACTERS: Final = 3_000


def expected_tokens(characters: float, calls: int) -> tuple[float, float]:
    """Tokens in and out of so many calls about `characters` of text, all calls together."""
    return characters / CHARACTERS_PER_TOKEN + calls * PROMPT_TOKENS, float(calls * ANSWER_TOKENS)


def usd_of(tokens: tuple[float, float], prices: tuple[float, float]) -> float:
    """US dollars for tokens in and out, at `prices` for a million of each."""
    return (tokens[0] * prices[0] + tokens[1] * prices[1]) / 1e6


class RecentMean:
    """A mean in which the newest value has a fixed weight. Not thread-safe."""

    def __init__(self) -> None:
        self.value: float | None = None
        """None: nothing was added yet."""

    def add(self, value: float) -> None:
        self.value = value if self.value is None else self.value + _NEWEST * (value - self.value)


class ExpectedCost:
    """Mean cost of one evaluation. Thread-safe."""

    def __init__(self, ask_price: AskPrice | None) -> None:
        """`ask_price`: see `know_price`; None: the price is known after the first evaluation, which others wait for."""
        self._ask_price = ask_price
        self._prices: tuple[float, float] | None = None
        self._tokens_per_character, self._usd_per_token, self._characters = RecentMean(), RecentMean(), RecentMean()
        self._lock = threading.RLock()
        self._first: tuple[str, float] | None = None
        """The evaluation that tells what one costs, and until when the others wait for it."""
        self._first_is_settled = False
        after_fork_in_child(self._after_fork)

    def amount(self, unit: Unit, *, characters: int | None = None, metrics: int) -> float:
        """Of the evaluation of a text of so many characters (None: of the usual length) by so many paid metrics."""
        if unit is Unit.EVALUATIONS:
            return 1.0
        with self._lock:
            length = characters if characters is not None else self._characters.value or _USUAL_CHARACTERS
            parts = expected_tokens(metrics * length, metrics)
            usual, usd_per_token = self._tokens_per_character.value, self._usd_per_token.value
            tokens = sum(parts) if usual is None else usual * length
            if unit is Unit.TOKENS:
                return tokens
            if usd_per_token is None and self._prices is not None:
                return usd_of(parts, self._prices)
            return tokens * (usd_per_token or _USD_PER_TOKEN)

    def learn(self, characters: int, usage: Usage) -> None:
        """Count an evaluation that was settled."""
        tokens = usage.input_tokens + usage.output_tokens
        if not characters or not tokens:
            return
        with self._lock:
            self._tokens_per_character.add(tokens / characters)
            self._characters.add(characters)
            if usage.cost_usd is not None:
                self._usd_per_token.add(usage.cost_usd / tokens)

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

    def _after_fork(self) -> None:
        """The evaluations under way are the parent's."""
        self._lock = threading.RLock()
        self._first = None
