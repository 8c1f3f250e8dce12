"""What belongs together, in tables of its own: `instrument(judge=JudgeSettings(...), alerts=AlertSettings(...))`.

Each field stands for one row of `rag_otel.settings.Settings`, where its meaning, default and environment name are; None
is "not given".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.settings.unknown import nearest


@dataclass(frozen=True, kw_only=True)
class _Table:
    prefix: ClassVar[str]
    """Of the rows whose names begin with the table's."""
    others: ClassVar[Mapping[str, str]] = {}
    """Field -> row, where the row's name is another."""

    def __new__(cls, **given: Any) -> Self:
        """Raises ConfigurationError for a name that is no field, with the one that was meant."""
        for name in given.keys() - set(cls.fields()):
            meant = {cls.row_of(field): field for field in cls.fields()}
            near = meant.get(name) or nearest(name, [*meant.values(), *meant])
            guess = f" (did you mean {meant.get(near, near)}?)" if near else f"; there are: {', '.join(cls.fields())}"
            raise ConfigurationError(f"{cls.__name__}: unknown setting {name}{guess}")
        return super().__new__(cls)

    @classmethod
    def row_of(cls, field: str) -> str:
        """The row of `Settings` that a field stands for."""
        return cls.others.get(field, cls.prefix + field)

    @classmethod
    def fields(cls) -> list[str]:
        return [each.name for each in dataclasses.fields(cls)]

    def rows(self) -> dict[str, Any]:
        """Row -> value, of what was given."""
        given = ((self.row_of(name), getattr(self, name)) for name in self.fields())
        return {row: value for row, value in given if value is not None}


@dataclass(frozen=True, kw_only=True)
class JudgeSettings(_Table):
    """Who judges, and how: `JudgeSettings(model="openai/gpt-4o-mini", strategy="two_step")`."""

    prefix: ClassVar[str] = "judge_"
    others: ClassVar[Mapping[str, str]] = {
        "model": "judge",
        "timeout": "evaluation_timeout",
        "calibration_file": "calibration_file",
        "embedder": "embedder",
        "language": "language",
        "prompt_folder": "prompt_folder",
    }

    model: str | None = None
    api_base: str | None = None
    strategy: Literal["single", "two_step", "classifier"] | None = None
    classifier: str | None = None
    concurrency: int | None = None
    calls_per_minute: float | None = None
    tokens_per_minute: float | None = None
    usd_per_minute: float | None = None
    input_price: float | None = None
    check_end_every: int | None = None
    mask: Sequence[str] | None = None
    mask_engine: Any = None
    local_only: Sequence[str] | None = None
    record_file: str | None = None
    cache: str | None = None
    cache_keep: float | None = None
    timeout: float | None = None
    calibration_file: str | None = None
    embedder: str | None = None
    language: str | None = None
    prompt_folder: str | None = None


@dataclass(frozen=True, kw_only=True)
class AlertSettings(_Table):
    """Who is told what, and when: `AlertSettings(slack_url="file:/run/secrets/slack", slo_target=0.95)`."""

    prefix: ClassVar[str] = "alert_"
    others: ClassVar[Mapping[str, str]] = {
        "per_minute": "alerts_per_minute",
        "slo_target": "slo_target",
        "slo_threshold": "slo_threshold",
    }

    rules: Sequence[str] | None = None
    slo_target: float | None = None
    slo_threshold: float | None = None
    silence: float | None = None
    failing_share: float | None = None
    cooldown: float | None = None
    per_minute: int | None = None
    remind: float | None = None
    resolve_after: float | None = None
    digest: float | None = None
    quiet_hours: Sequence[str] | None = None
    log_texts: bool | None = None
    webhook_url: str | None = dataclasses.field(default=None, repr=False)
    webhook_secret: str | None = dataclasses.field(default=None, repr=False)
    slack_url: str | None = dataclasses.field(default=None, repr=False)
    pagerduty_key: str | None = dataclasses.field(default=None, repr=False)
    pagerduty_url: str | None = None
    alertmanager_urls: Sequence[str] | None = None
    alertmanager_authorization: str | None = dataclasses.field(default=None, repr=False)
    email_to: Sequence[str] | None = None
    email_from: str | None = None
    smtp_url: str | None = None
    smtp_password: str | None = dataclasses.field(default=None, repr=False)
    apprise_urls: Sequence[str] | None = dataclasses.field(default=None, repr=False)
    timeout: float | None = None
    page_precision: float | None = None
    bad_share: float | None = None
    precision_file: str | None = None
    worst_per_day: int | None = None
    chart_url: str | None = None
    runbook_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class DriftSettings(_Table):
    """What is watched for drift: `DriftSettings(baseline="0.9", slices=["tenant"])`."""

    prefix: ClassVar[str] = "drift_"
    others: ClassVar[Mapping[str, str]] = {
        "enabled": "drift",
        "judge_watch": "judge_watch",
        "judge_watch_interval": "judge_watch_interval",
        "judge_anchors": "judge_anchors",
    }

    enabled: bool | None = None
    baseline: str | None = None
    baseline_count: int | None = None
    margin: float | None = None
    run_length: float | None = None
    slices: Sequence[str] | None = None
    judge_watch: bool | None = None
    judge_watch_interval: float | None = None
    judge_anchors: str | None = None


@dataclass(frozen=True, kw_only=True)
class SpanSettings(_Table):
    """How spans are held and what is written on them: `SpanSettings(max_held=1_000, claims_format="json")`."""

    prefix: ClassVar[str] = ""

    max_held: int | None = None
    max_held_bytes: int | None = None
    evaluation_spans: Literal["auto", "always", "late"] | None = None
    claims_format: Literal["flat", "json"] | None = None
    max_claims: int | None = None
    texts_on_root: bool | None = None


@dataclass(frozen=True, kw_only=True)
class TelemetrySettings(_Table):
    """Where metrics and events go: `TelemetrySettings(exporter="prometheus", address="0.0.0.0:9464")`."""

    prefix: ClassVar[str] = "telemetry_"
    others: ClassVar[Mapping[str, str]] = {"events_exporter": "events_exporter"}

    exporter: Literal["application", "otlp", "prometheus", "none"] | None = None
    events_exporter: Literal["application", "otlp", "none"] | None = None
    endpoint: str | None = None
    interval: float | None = None
    address: str | None = None


TABLES: Mapping[str, type[_Table]] = {
    "judge": JudgeSettings,
    "alerts": AlertSettings,
    "drift": DriftSettings,
    "spans": SpanSettings,
    "telemetry": TelemetrySettings,
}
"""Argument of `instrument()` -> its table."""


def flat(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with their tables taken apart: row -> value. What is no table stays as it is.

    A file's table is a mapping: `[evaluation.alerts]` in TOML.
    """
    rows: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, _Table):
            if type(value) is not TABLES.get(name):
                (right,) = (argument for argument, table in TABLES.items() if type(value) is table)
                kind = type(value).__name__
                raise ConfigurationError(f"{name}={kind}(...): write {right}={kind}(...)")
            rows |= value.rows()
        elif name in TABLES and isinstance(value, Mapping):
            rows |= {TABLES[name].row_of(field): each for field, each in value.items()}
        else:
            rows[name] = value
    return rows


def places(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(what a reader may have meant, how it is written) for every field of every table whose row is `known`."""
    for argument, table in TABLES.items():
        for field in table.fields():
            if table.row_of(field) in known:
                yield field, f"{argument}={table.__name__}({field}=...)"
