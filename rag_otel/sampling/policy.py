"""The sampling policy: which traces are never evaluated, which by a coin, which always, and what that may cost.

    SamplingPolicy(
        drop=[DropRule(name="health", route="health*")],
        coin=Coin(rate=0.05, strata=["route"], minimum=20, rates=[CoinRate(tenant="acme", rate=0.2)]),
        force=[ForceRule(name="slow", latency_above=8), ForceRule(name="suspicious", risk_above=0.7)],
        budget=PolicyBudget(evaluations_per_hour=600, coin_share=0.5),
    )

A file (`sampling_policy = "policy.toml"`) has the same fields. The steps are taken in this order for every trace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from rag_otel.errors import ConfigurationError
from rag_otel.formats.json_text import object_of

HOUR_S: Final = 3600.0
LOWEST_RATE: Final = 0.001
"""An adapted rate is never lower: one trace in a thousand counts for a thousand."""


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""One name or several; `*` and `?` stand for any text, as in file names."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Match(_Part):
    """Which traces are meant: all that is given must hold. Nothing given: every trace."""

    route: Names = ()
    tenant: Names = ()
    """The tag `tenant`."""
    model: Names = ()
    service: Names = ()
    tags: Mapping[str, Names] = {}
    """Tag -> its values."""


class DropRule(Match):
    """Traces that are never evaluated. They are not part of any estimate."""

    name: str

    @model_validator(mode="after")
    def _is_narrow(self) -> Self:
        if not any((self.route, self.tenant, self.model, self.service, self.tags)):
            raise ValueError(
                f"drop rule {self.name!r} matches every trace: name a route, tenant, model, service or tag"
            )
        return self


class CoinRate(Match):
    """The coin's rate for some traces. The first one that matches counts."""

    rate: float = Field(ge=0, le=1)


class Coin(_Part):
    """A random sample of all traces that are not dropped. Means of all traffic rest on it."""

    rate: float = Field(default=1.0, ge=0, le=1)
    """Share of traces, where no other rate matches."""
    rates: tuple[CoinRate, ...] = ()
    strata: Names = ()
    """What traffic is divided by: `route`, `tenant`, `model`, `service` or a tag. Every combination is a stratum."""
    minimum: int = Field(default=0, ge=0)
    """Evaluations in a window that every stratum gets, or all of its traces where it has fewer."""
    adaptive: bool = True
    """The rate falls where the coin's budget or the limit of evaluations per minute would not last, and rises again.
    It changes between windows only."""

    @model_validator(mode="after")
    def _has_strata(self) -> Self:
        if self.minimum and not self.strata:
            raise ValueError("minimum needs strata: name what traffic is divided by, for example strata = ['route']")
        return self


class ForceRule(Match):
    """Traces that are always evaluated, within the budget of forced traces. All that is given must hold."""

    name: str
    rating_below: float | None = Field(default=None, gt=0, le=1)
    """A user's rating, 0..1, is below this; a thumbs-down is 0."""
    error_answer: bool | Names = False
    """The answer looks like an error or an apology: true for the built-in patterns, or regular expressions."""
    latency_above: float | None = Field(default=None, ge=0)
    """Seconds that the answer took."""
    no_chunks: bool = False
    """The retrieval found nothing."""
    similarity_below: float | None = None
    """The best chunk's score, on the retriever's scale, is below this. Not for retrievers that report distances."""
    risk_above: float | None = Field(default=None, ge=0, lt=1)
    """The embedded judge's risk. It judges every trace first, which costs CPU time and no money."""

    @model_validator(mode="after")
    def _is_narrow(self) -> Self:
        if self.model_fields_set <= {"name"}:
            raise ValueError(f"force rule {self.name!r} matches every trace: give a condition, or set coin.rate to 1")
        return self

    @field_validator("error_answer")
    @classmethod
    def _compiles(cls, value: bool | tuple[str, ...]) -> bool | tuple[str, ...]:
        for pattern in value if isinstance(value, tuple) else ():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        return value


class PolicyBudget(_Part):
    """How budgets are shared between the coin and the forced traces."""

    evaluations_per_hour: float | None = Field(default=None, gt=0)
    """Evaluated traces an hour, both together. None: no such limit."""
    coin_share: float = Field(default=0.5, gt=0, le=1)
    """The coin's share of every budget. Forced traces never use it, so they never change how many traces the coin can
    pay for."""


class SamplingPolicy(_Part):
    """The whole policy."""

    seed: int | None = None
    """Seed of the coin. None: 0."""
    window: float = Field(default=300.0, ge=1, le=HOUR_S)
    """Seconds for which the coin's rates stay the same. A trace belongs to the window of its start."""
    drop: tuple[DropRule, ...] = ()
    coin: Coin = Coin()
    force: tuple[ForceRule, ...] = ()
    budget: PolicyBudget = PolicyBudget()

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [*(rule.name for rule in self.drop), *(rule.name for rule in self.force)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two rules are named {', '.join(twice)}")
        return self

    @property
    def lowest_rate(self) -> float:
        """The smallest probability above 0 with which a trace can be selected."""
        rates = [rate for rate in (self.coin.rate, *(each.rate for each in self.coin.rates)) if rate > 0]
        return min([LOWEST_RATE, *rates] if self.coin.adaptive else rates, default=1.0)

    @classmethod
    def load(cls, given: str | Mapping[str, Any] | SamplingPolicy) -> SamplingPolicy:
        """A policy from an object, JSON text, or the path of a TOML or JSON file. Raises ConfigurationError that names
        the field and what is allowed there."""
        if isinstance(given, SamplingPolicy):
            return given
        place, written = object_of(given, "sampling_policy")
        try:
            return cls.model_validate(written)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            hint = f"; there are: {', '.join(_fields_at(first['loc']))}" if first["type"] == "extra_forbidden" else ""
            raise ConfigurationError(f"{place}: {f'{where}: ' if where else ''}{first['msg']}{hint}") from None


_PARTS: Final[Mapping[str, type[_Part]]] = {
    "drop": DropRule,
    "coin": Coin,
    "rates": CoinRate,
    "force": ForceRule,
    "budget": PolicyBudget,
}


def _fields_at(location: tuple[int | str, ...]) -> list[str]:
    """The fields of the part that a location of an error is in."""
    inside = [part for part in location[:-1] if isinstance(part, str) and part in _PARTS]
    return list((_PARTS[inside[-1]] if inside else SamplingPolicy).model_fields)
