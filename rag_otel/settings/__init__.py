"""Every setting in one table: its argument of `instrument()`, environment names, type, default and meaning.

The table is the class `Settings` with its groups (`rag_otel.settings.groups`): a field is a setting, and is written
nowhere else. `resolve()` fills it: an argument wins over the environment, the environment over a file, the file over
the default; where each value came from is kept for `rag-otel doctor`. A server with settings of its own has a table
of its own, of the same `row()`s (`rag_otel.settings.rows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.protocols import Evaluator, Sampler, Writer
from rag_otel.settings.groups import (
    GROUPS,
    AlertSettings,
    DriftSettings,
    JudgeSettings,
    SpanSettings,
    TelemetrySettings,
)
from rag_otel.settings.judge_names import judge_problem
from rag_otel.settings.rows import (
    ADDRESS,
    SHARE,
    Group,
    part,
    parts_of,
    require,
    resolve_table,
    row,
    rows_of,
    shown,
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `instrument()` was told, checked. Times in seconds, sizes in bytes."""

    enabled: bool = row(True, "False: nothing is attached, nothing is evaluated")
    judge: JudgeSettings = JudgeSettings()
    metrics: Sequence[str] = row(("faithfulness",), "Metrics to evaluate")
    evaluators: Sequence[Evaluator] = part((), "Evaluators of your own, beside `metrics`", kind=Evaluator)
    evaluations_per_minute: float | None = row(
        None, "Cap; 600 for the embedded judge, for any other it must be given; inf: none"
    )
    sample_ratio: float = row(1.0, "Share of traces to evaluate, 0..1", must=SHARE)
    sampling_policy: str | Mapping[str, Any] | None = row(
        None, "In place of `sample_ratio`: rules for what is evaluated; a TOML or JSON file, or JSON"
    )
    sampler: Sampler | None = part(None, "A sampler of your own, given as `sampling_policy`", kind=Sampler)
    phoenix_endpoint: str | None = row(
        None,
        "Phoenix's address, http://host:6006",
        "RAG_OTEL_PHOENIX_ENDPOINT",
        "PHOENIX_COLLECTOR_ENDPOINT",
        must=ADDRESS,
    )
    phoenix_api_key: str | None = row(
        None, "Phoenix's API key", "RAG_OTEL_PHOENIX_API_KEY", "PHOENIX_API_KEY", secret=True
    )
    project_name: str | None = row(None, "Phoenix project", "RAG_OTEL_PROJECT_NAME", "PHOENIX_PROJECT_NAME")
    capture_content: bool = row(True, "False: no text in what is written back")
    spans: SpanSettings = SpanSettings()
    alerts: AlertSettings = AlertSettings()
    drift: DriftSettings = DriftSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    writers: Sequence[Writer] = part((), "Writers of your own, beside Phoenix annotations and spans", kind=Writer)
    state_folder: str | None = row(
        None, "Where what must survive a restart is kept; processes that share it watch as one"
    )
    feedback_key: str | None = row(
        None, "Key of the hash of `feedback(user_id=...)`, the same in all processes", secret=True, argument=False
    )


@dataclass(frozen=True, kw_only=True)
class ResolvedSettings:
    """Settings and where each value came from."""

    settings: Settings
    origins: Mapping[str, str]
    """Name of a setting -> `argument`, `environment RAG_OTEL_...`, `file` or `default`."""

    def rows(self) -> list[tuple[str, str, str]]:
        """(name, value with secrets masked, origin) for every setting, in the table's order."""
        rows = rows_of(Settings).values()
        return [(row.name, shown(row.of(self.settings), row.secret), self.origins[row.name]) for row in rows]


def sends_over_http(settings: Settings) -> bool:
    """True where results, alerts or telemetry go to a server that the settings name."""
    changed = [row for row in rows_of(Settings).values() if row.of(settings) != row.default]
    return any(row.must is ADDRESS or row.owner in (AlertSettings, TelemetrySettings) for row in changed)


def resolve(
    arguments: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    file: Mapping[str, Any] | None = None,
) -> ResolvedSettings:
    """Fill the table. `arguments` are settings by name, or groups of them; those that are None count as not given.
    `file` is what a file of settings says.

    Raises ConfigurationError that names the setting, the value and where it came from.
    """
    arguments = arguments or {}
    whole: dict[str, Any] = parts_of(Settings, arguments)
    named, parts = _flat({name: value for name, value in arguments.items() if name not in whole})
    values, origins = resolve_table(Settings, named, environ, file=_flat(file or {})[0])
    grouped: dict[str, dict[str, Any]] = {argument: dict(parts.get(argument, {})) for argument in GROUPS}
    for name, value in values.items():
        *group, field = rows_of(Settings)[name].path
        (grouped[group[0]] if group else whole)[field] = value
    whole |= {argument: GROUPS[argument](**fields) for argument, fields in grouped.items() if fields}
    settings = Settings(**whole)
    _check(settings)
    return ResolvedSettings(settings=settings, origins=origins)


def _flat(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """(setting -> value, group -> field -> object) of arguments with their groups taken apart.

    A file's group is a mapping: `[evaluation.alerts]` in TOML.
    """
    values: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in arguments.items():
        if isinstance(value, Group):
            if value.argument != name:
                kind = type(value).__name__
                raise ConfigurationError(f"{name}={kind}(...): write {value.argument}={kind}(...)")
            values |= value.given()
            parts[name] = value.parts()
        elif name in GROUPS and isinstance(value, Mapping):
            names = {row.path[-1]: row.name for row in rows_of(GROUPS[name]).values()}
            values |= {names.get(field, f"{name}.{field}"): each for field, each in value.items()}
        elif name in GROUPS and value is not None and name not in rows_of(Settings):
            raise ConfigurationError(f"{name}={value!r}: write {name}={GROUPS[name].__name__}(...)")
        else:
            values[name] = value
    return values, parts


def _check(settings: Settings) -> None:
    """What several settings, the name of a judge or a callback must be like. Raises ConfigurationError."""
    if (on_alert := settings.alerts.on_alert) is not None and not callable(on_alert):
        raise ConfigurationError(f"on_alert must be a function of an alert, not {on_alert!r}")
    if (problem := judge_problem(settings.judge.model)) is not None:
        raise ConfigurationError(f"judge (environment: RAG_OTEL_JUDGE): {problem}")
    url, rows = settings.judge.job_queue_url, rows_of(Settings)
    if url is not None:
        ended = ": jobs on NATS ended with 0.1 (let the workers of 0.1 empty its streams first)"
        wanted = "RabbitMQ's address, amqp://user:password@host:5672/"
        wanted += ended if url.startswith(("nats://", "tls://")) else ""
        require(url.startswith(("amqp://", "amqps://")), rows["job_queue_url"], url, wanted)
        texts = "True with a job_queue_url: jobs carry the texts. Without a job_queue_url, texts stay in the process"
        require(settings.capture_content, rows["capture_content"], False, texts)
