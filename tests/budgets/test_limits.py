"""How limits are written."""

from __future__ import annotations

import pytest

from rag_otel.budgets.budget_limit import NANO, BudgetLimit, Unit
from rag_otel.budgets.build import limits_of
from rag_otel.errors import ConfigurationError
from rag_otel.settings import resolve


@pytest.mark.parametrize(
    ("written", "limit"),
    [
        ("5 usd/day", BudgetLimit(amount=5, unit=Unit.USD, window_s=86_400)),
        ("$0.50 USD / hour", BudgetLimit(amount=0.5, unit=Unit.USD, window_s=3_600)),
        ("1,500 usd/day", BudgetLimit(amount=1_500, unit=Unit.USD, window_s=86_400)),
        ("0.00001 usd/hour", BudgetLimit(amount=0.00001, unit=Unit.USD, window_s=3_600)),
        ("$1,234,567.5 usd/day", BudgetLimit(amount=1_234_567.5, unit=Unit.USD, window_s=86_400)),
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


@pytest.mark.parametrize(
    "written", ["", "5", "5 usd", "5 eur/day", "-5 usd/day", "0 usd/day", "5 usd/week", "usd/day", "5, usd/day"]
)
def test_a_mistake_shows_how_it_is_written(written: str) -> None:
    with pytest.raises(ConfigurationError, match="5 usd/day"):
        BudgetLimit.parse(written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0,50 usd/day", "0.50 usd/day"),
        ("1,5 usd/hour", "1.5 usd/hour"),
        ("$0,500 usd/day/tenant", "$0.500 usd/day/tenant"),
        ("1,2345 usd/day", "1.2345 usd/day"),
        ("1,00,000 tokens/hour", "100000 tokens/hour"),
        ("1,2.5 usd/day", "12.5 usd/day"),
    ],
)
def test_a_decimal_comma_is_refused_with_the_way_to_write_it(written: str, meant: str) -> None:
    """Half a dollar must not become fifty."""
    with pytest.raises(ConfigurationError, match="point before decimals") as refused:
        BudgetLimit.parse(written)
    assert f"write {meant!r}" in str(refused.value)


def test_a_list_with_a_decimal_comma_is_refused() -> None:
    """In the environment commas separate limits, so half of the amount is a limit of its own."""
    settings = resolve({}, {"RAG_OTEL_BUDGETS": "0,50 usd/day"}).settings
    with pytest.raises(ConfigurationError, match=r"`0\.50 usd/day`, and in a list a comma ends a limit"):
        limits_of(settings)


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
