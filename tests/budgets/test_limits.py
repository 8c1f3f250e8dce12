"""How limits are written."""

from __future__ import annotations

import pytest

from rag_otel.budgets.limits import NANO, BudgetLimit, Unit
from rag_otel.errors import ConfigurationError


@pytest.mark.parametrize(
    ("written", "limit"),
    [
        ("5 usd/day", BudgetLimit(amount=5, unit=Unit.USD, window_s=86_400)),
        ("$0.50 USD / hour", BudgetLimit(amount=0.5, unit=Unit.USD, window_s=3_600)),
        ("200,000 tokens/hour", BudgetLimit(amount=200_000, unit=Unit.TOKENS, window_s=3_600)),
        ("1 usd/day/tenant", BudgetLimit(amount=1, unit=Unit.USD, window_s=86_400, tenant="*")),
        ("2 usd/day/tenant=acme", BudgetLimit(amount=2, unit=Unit.USD, window_s=86_400, tenant="acme")),
        ("600 evaluations/hour", BudgetLimit(amount=600, unit=Unit.EVALUATIONS, window_s=3_600)),
    ],
)
def test_a_limit_is_read(written: str, limit: BudgetLimit) -> None:
    """And what is shown of it is read as the same limit."""
    assert BudgetLimit.parse(written) == limit
    assert BudgetLimit.parse(str(limit)) == limit


@pytest.mark.parametrize("written", ["", "5", "5 usd", "5 eur/day", "-5 usd/day", "0 usd/day", "5 usd/week", "usd/day"])
def test_a_mistake_shows_how_it_is_written(written: str) -> None:
    with pytest.raises(ConfigurationError, match="5 usd/day"):
        BudgetLimit.parse(written)


def test_whose_account_a_trace_is_counted_in() -> None:
    """Everybody's, each tenant's own, or one tenant's."""
    everybody, each, acme = (BudgetLimit.parse(f"1 usd/day{end}") for end in ("", "/tenant", "/tenant=acme"))
    assert everybody.scope("acme") == everybody.scope(None) == "usd/86400"
    assert (each.scope("acme"), each.scope(None)) == ("usd/86400/tenant=acme", "usd/86400/tenant=-")
    assert (acme.scope("acme"), acme.scope("other"), acme.scope(None)) == ("usd/86400/tenant=acme", None, None)


def test_small_amounts_are_not_lost() -> None:
    """A call of a tenth of a cent is a million billionths of a dollar; anything above nothing is at least one."""
    limit = BudgetLimit.parse("5 usd/day")
    assert limit.units(0.001) == NANO // 1_000
    assert limit.units(1e-12) == 1
