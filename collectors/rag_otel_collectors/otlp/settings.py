"""What the collector is told: its own table of settings, that of evaluation, and the backends.

A flag wins over the environment, the environment over the file (TOML), the file over the default:

    [collector]             # rows of CollectorSettings
    grpc = "0.0.0.0:4317"
    [evaluation]            # rows of rag_otel.settings.Settings
    sample_ratio = 0.2
    [[backends]]            # one or several
    endpoint = "https://otlp.example.com"
    headers = { authorization = "Bearer ..." }
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_otel.errors import ConfigurationError
from rag_otel.safety.redaction import MASK, redacted_text
from rag_otel.settings import ResolvedSettings, Settings, resolve
from rag_otel.settings.rows import SettingRow, resolve_table, rows_of, secrets_of, shown
from rag_otel.settings.unknown import unknown_setting
from rag_otel_collectors.otlp.backends import backend_of, backends_of
from rag_otel_collectors.otlp.exporters.connection import BackendSettings
from rag_otel_collectors.otlp.kafka import secret_values
from rag_otel_collectors.otlp.settings_table import CollectorSettings


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Everything the collector is told, checked, and where each value came from."""

    collector: CollectorSettings
    origins: Mapping[str, str]
    evaluation: ResolvedSettings
    backends: tuple[BackendSettings, ...]

    @property
    def secrets(self) -> list[str]:
        """Every key, and every value of a header."""
        headers = [value for backend in self.backends for value in backend.headers.values()]
        properties = [self.collector.kafka_client, *(backend.properties for backend in self.backends)]
        kafka = [value for each in properties for value in secret_values(each)]
        return [*self.collector.api_keys, *headers, *kafka, *secrets_of(self.evaluation.settings)]

    def rows(self) -> dict[str, list[tuple[str, str, str]]]:
        """Every setting as it is printed at the start, by part: (name, value with secrets masked, origin)."""
        own = [
            (row.name, shown(row.of(self.collector), row.secret), self.origins[row.name])
            for row in rows_of(CollectorSettings).values()
        ]
        return {
            "collector": own,
            "evaluation": list(self.evaluation.rows()),
            "backends": [_backend_row(backend) for backend in self.backends],
        }


def configure(
    arguments: Mapping[str, Any], *, file: str | None = None, environ: Mapping[str, str] | None = None
) -> Configuration:
    """Settle every setting. `arguments` are rows of either table by name; None counts as not given.

    Raises ConfigurationError that names the setting, the value and where it came from.
    """
    environ = os.environ if environ is None else environ
    content = _read(file)
    own = rows_of(CollectorSettings).keys()
    values, origins = resolve_table(
        CollectorSettings,
        {name: value for name, value in arguments.items() if name in own},
        environ,
        file=_table(content, "collector"),
    )
    collector = CollectorSettings(**values)
    others = {name: value for name, value in arguments.items() if name not in own}
    if unknown := sorted(others.keys() - rows_of(Settings).keys()):
        raise unknown_setting(unknown, every_row())
    evaluation = resolve(others, environ, file=_table(content, "evaluation"))
    return Configuration(
        collector=collector,
        origins=origins,
        evaluation=evaluation,
        backends=backends_of(collector, evaluation.settings, content.get("backends") or []),
    )


def evaluation_settings(
    arguments: Mapping[str, Any], *, file: str | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """The part `[evaluation]` alone, for commands that forward nothing. Raises ConfigurationError."""
    environ = os.environ if environ is None else environ
    return resolve(arguments, environ, file=_table(_read(file), "evaluation")).settings


def named_values(given: Sequence[str]) -> dict[str, str]:
    """Settings given as `NAME=VALUE`. Raises ConfigurationError."""
    values = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise ConfigurationError(f"--set {each}: must be NAME=VALUE")
        values[name.strip().replace("-", "_")] = value
    return values


def data_folder(file: str | None = None) -> Path:
    """The collector's folder, as its file and the environment name it. Raises ConfigurationError."""
    return Path(collector_settings(file).data_dir)


def backend_at(endpoint: str, headers: Mapping[str, str] | None = None, *, file: str | None = None) -> BackendSettings:
    """A backend by its address; the brokers of a topic are those of the file and the environment. Raises
    ConfigurationError."""
    kafka = collector_settings(file).kafka_client
    return backend_of({"endpoint": endpoint, "headers": dict(headers or {})}, 0, kafka)


def collector_settings(file: str | None = None) -> CollectorSettings:
    """The part `[collector]` alone, of the file and the environment. Raises ConfigurationError."""
    values, _ = resolve_table(CollectorSettings, {}, os.environ, file=_table(_read(file), "collector"))
    return CollectorSettings(**values)


def every_row() -> list[SettingRow]:
    """The settings of both tables."""
    return [*rows_of(CollectorSettings).values(), *rows_of(Settings).values()]


def _read(file: str | None) -> Mapping[str, Any]:
    if file is None:
        return {}
    try:
        content = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read as TOML: {error}") from None
    if unknown := sorted(set(content) - {"collector", "evaluation", "backends"}):
        raise ConfigurationError(
            f"{file}: unknown part {', '.join(unknown)}; there are [collector], [evaluation] and [[backends]]"
        )
    return content


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = content.get(name) or {}
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"[{name}] must be a table")
    return table


def _backend_row(backend: BackendSettings) -> tuple[str, str, str]:
    headers = "".join(f", {name}: {MASK}" for name in backend.headers)
    return (
        backend.name,
        redacted_text(backend.endpoint),
        f"{backend.protocol}{' with TLS' if backend.tls else ''}{headers}",
    )
