"""A limit of what judging may cost: `5 usd/day`, `200000 tokens/hour`, `1 usd/day/tenant`, `2 usd/day/tenant=acme`."""

from __future__ import annotations

import enum
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from rag_otel.errors import ConfigurationError

NANO: Final = 1_000_000_000
"""Dollars are counted in billionths, as whole numbers: sums are exact in every store."""
EACH_TENANT: Final = "*"
_WINDOWS: Final = {"hour": 3_600, "day": 86_400}
_WRITTEN: Final = re.compile(
    r"\s*\$?(?P<amount>[0-9](?:[0-9_,]*[0-9])?(?:\.[0-9]+)?)\s*(?P<unit>usd|tokens|evaluations)\s*/\s*(?P<window>hour|day)"
    r"(?:\s*/\s*tenant(?:\s*=\s*(?P<tenant>[^\s/]+))?(?P<each>))?\s*",
    re.IGNORECASE,
)
_THOUSANDS: Final = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
"""An amount with commas that cannot be a decimal comma: `0,50` and `1,5` are amounts in half the world."""


class Unit(enum.StrEnum):
    """What a limit counts."""

    USD = "usd"
    TOKENS = "tokens"
    """Input and output tokens together."""
    EVALUATIONS = "evaluations"
    """Evaluated traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimit:
    """At most `amount` of `unit` in every hour or day (UTC)."""

    amount: float
    unit: Unit
    window_s: int
    """3,600 or 86,400. Windows begin at multiples of it since the epoch."""
    tenant: str | None = None
    """None: all traffic together. `*`: each tenant by itself. Else: this tenant."""

    def __str__(self) -> str:
        window = next(name for name, seconds in _WINDOWS.items() if seconds == self.window_s)
        whose = {None: "", EACH_TENANT: "/tenant"}.get(self.tenant, f"/tenant={self.tenant}")
        amount = format(Decimal(str(self.amount)).normalize(), "f")  # readable as a limit, also beyond a million
        return f"{amount} {self.unit}/{window}{whose}"

    @classmethod
    def parse(cls, text: str) -> BudgetLimit:
        """Raises ConfigurationError that shows how a limit is written."""
        found = _WRITTEN.fullmatch(text)
        if found is not None:
            _refuse_decimal_comma(text, found["amount"])
        amount = 0.0 if found is None else float(found["amount"].replace(",", "").replace("_", ""))
        if found is None or not 0 < amount < math.inf:
            raise ConfigurationError(
                f"budget {text!r}: write an amount above 0, usd, tokens or evaluations, and hour or day: `5 usd/day`, "
                "`200000 tokens/hour`; for each tenant `1 usd/day/tenant`, for one `2 usd/day/tenant=acme`; half a "
                "dollar is `0.50 usd/day`, and in a list a comma ends a limit"
            )
        tenant = found["tenant"] or (EACH_TENANT if found["each"] is not None else None)
        return cls(
            amount=amount, unit=Unit(found["unit"].lower()), window_s=_WINDOWS[found["window"].lower()], tenant=tenant
        )

    def scope(self, tenant: str | None) -> str | None:
        """Which account of the limit a trace of this tenant is counted in. None: the limit is not about it."""
        if self.tenant is None:
            return f"{self.unit}/{self.window_s}"
        if self.tenant == EACH_TENANT or self.tenant == tenant:
            return f"{self.unit}/{self.window_s}/tenant={tenant or '-'}"
        return None

    def units(self, amount: float) -> int:
        """An amount of the limit's unit as the ledger's whole number, rounded up."""
        return math.ceil(amount * NANO) if self.unit is Unit.USD else math.ceil(amount)


def _refuse_decimal_comma(text: str, amount: str) -> None:
    """Raises ConfigurationError for an amount with a comma that does not stand between thousands."""
    if "," not in amount or _THOUSANDS.fullmatch(amount):
        return
    is_decimal = amount.count(",") == 1 and "." not in amount
    meant = text.strip().replace(amount, amount.replace(",", "." if is_decimal else ""), 1)
    raise ConfigurationError(
        f"budget {text!r}: write {meant!r}, with a point before decimals; a comma stands between thousands alone, "
        "as in `200,000 tokens/hour`"
    )
