"""What one call has used and costs: as its server says, estimated from the texts where it does not say.

Some servers send no `usage`, or zeros. Without an estimate such a call would be free for every budget and limit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from rag_otel.model import Usage
from rag_otel.safety.guard import counters, logger

Price: TypeAlias = Callable[[int, int, int], float | None]
"""(input tokens, output tokens, input tokens that the provider had cached) -> US dollars; None where unknown."""

PRICES: Final = frozenset({"input_cost_per_token", "output_cost_per_token"})
"""Parameters of a model that give its prices."""
_BYTES_PER_TOKEN: Final = 3.0
"""Of UTF-8. Low for English (about 4), so that an estimate is rather too high, in any script."""
_MOST_EVENTS: Final = 20
"""Events at the end of a stream that may hold its usage."""
_MOST_TOKENS: Final = 10**9
"""A larger number is no count of tokens."""


def fixed_price(parameters: Mapping[str, Any]) -> Price | None:
    """What one call costs at the prices that the parameters give; None where they give none."""
    if not parameters.keys() >= PRICES:
        return None
    rates = float(parameters["input_cost_per_token"]), float(parameters["output_cost_per_token"])
    return lambda read, written, cached: read * rates[0] + written * rates[1]


def estimated_tokens(texts: Iterable[str]) -> int:
    """Tokens of these texts, approximately and rather too many."""
    return math.ceil(sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / _BYTES_PER_TOKEN)


def usage_of(said: object, *, model: str, price: Price, sent: Iterable[str], answered: str) -> Usage:
    """The usage of one call to `model`. `said`: OpenAI's `usage` object, or anything else that came in its place.

    Without a count of input tokens the call is estimated from the texts that were sent and answered; told once.
    """
    counts = said if isinstance(said, Mapping) else {}
    details = counts.get("prompt_tokens_details")
    read, written = _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else 0
    if not read:
        if counters.add("judge.usage_estimated") == 1:
            logger.warning(
                "rag-otel: the server of %s does not say how many tokens a call has used; they are estimated from its "
                "texts, for budgets and limits too",
                model,
            )
        read, written = estimated_tokens(sent), written or estimated_tokens([answered])
    cost = price(read, written, min(cached, read))
    return Usage(input_tokens=read, output_tokens=written, cost_usd=cost, calls=1)


def usage_in(body: bytes) -> object:
    """The `usage` of an answer that is no completion: of a JSON object, or of the last events of a stream."""
    events = [line.removeprefix(b"data:") for line in body.splitlines() if line.startswith(b"data:")]
    for text in events[: -_MOST_EVENTS - 1 : -1] or [body]:
        try:
            found: Any = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found.get("usage"):
            return found["usage"]
    return None


def _count(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 < value < _MOST_TOKENS else 0
