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

import dataclasses
import os
import tomllib
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from rag_otel.errors import ConfigurationError
from rag_otel.safety.redaction import MASK, redacted_text
from rag_otel.settings import ResolvedSettings, Settings, resolve
from rag_otel.settings.rows import resolve_table, row, secrets_of, shown, variables_of
from rag_otel.settings.unknown import unknown_variables
from rag_otel.writers.phoenix_links import phoenix_base_url
from rag_otel_collectors.otlp.exporters.connection import BackendSettings
from rag_otel_collectors.otlp.kafka import BROKERS, client_properties, secret_values

_ENV: Final = "RAG_OTEL_COLLECTOR_"
PHOENIX_CONFIRM_S: Final = 15.0
"""Phoenix answers when it has queued spans; killed, it loses those of the last moments, and it ignores repeats."""
_SCHEMES: Final = {"grpc": ("grpc", False), "grpcs": ("grpc", True), "http": ("http", False), "https": ("http", True)}
_KAFKA: Final = "kafka"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_IN_PROCESS_ONLY: Final = frozenset({"max_held", "max_held_bytes"})


@dataclass(frozen=True, kw_only=True)
class CollectorSettings:
    """How the collector receives, holds and keeps. Times in seconds, sizes in bytes."""

    grpc: str = row("127.0.0.1:4317", "Where OTLP/gRPC is received; empty: nowhere", f"{_ENV}GRPC")
    http: str = row("127.0.0.1:4318", "Where OTLP/HTTP is received, and the probes", f"{_ENV}HTTP")
    backend: tuple[str, ...] = row((), "Where to forward: grpc(s)://host:port or http(s)://host:port", f"{_ENV}BACKEND")
    headers: tuple[str, ...] = row((), "Sent to these backends, name=value", f"{_ENV}HEADERS", secret=True)
    data_dir: str = row(".rag-otel/collector", "Folder of the queues on disk", f"{_ENV}DATA_DIR")
    api_keys: tuple[str, ...] = row((), "Keys that clients must show one of", f"{_ENV}API_KEYS", secret=True)
    tls_cert: str | None = row(None, "Certificate for clients, PEM", f"{_ENV}TLS_CERT")
    tls_key: str | None = row(None, "Its key, PEM", f"{_ENV}TLS_KEY")
    tls_client_ca: str | None = row(None, "Let in only clients with a certificate of this CA", f"{_ENV}TLS_CLIENT_CA")
    trust_incoming_scores: bool | None = row(
        None,
        "Whether scores that spans bring along hold; else they are taken off. By default where no stranger can send",
        f"{_ENV}TRUST_INCOMING_SCORES",
    )
    workers: int = row(1, "Processes that evaluate", f"{_ENV}WORKERS")
    grace: float = row(2.0, "Wait after the end of a trace's root", f"{_ENV}GRACE")
    idle: float = row(30.0, "A trace without new spans is taken for complete after", f"{_ENV}IDLE")
    max_traces: int = row(10_000, "Traces in memory, at most", f"{_ENV}MAX_TRACES")
    max_memory_bytes: int = row(128 * 2**20, "Held spans in memory, at most", f"{_ENV}MAX_MEMORY_BYTES")
    max_disk_bytes: int = row(2**30, "Queues on disk, at most", f"{_ENV}MAX_DISK_BYTES")
    max_request_bytes: int = row(16 * 2**20, "One request, unpacked, at most", f"{_ENV}MAX_REQUEST_BYTES")
    fsync: bool = row(False, "True: what is accepted survives a power cut too", f"{_ENV}FSYNC")
    drain_timeout: float = row(25.0, "To finish what is here after SIGTERM", f"{_ENV}DRAIN_TIMEOUT")
    kafka_brokers: tuple[str, ...] = row((), "Brokers of Kafka, host:port", f"{_ENV}KAFKA_BROKERS")
    kafka_topic: str = row("otlp_spans", "Topic that spans are read from; empty: none", f"{_ENV}KAFKA_TOPIC")
    kafka_group: str = row("rag-otel", "Consumer group of the collectors", f"{_ENV}KAFKA_GROUP")
    kafka_member: str | None = row(None, "Lasting name of this collector in the group", f"{_ENV}KAFKA_MEMBER")
    kafka_properties: tuple[str, ...] = row(
        (), "Properties of librdkafka, name=value", f"{_ENV}KAFKA_PROPERTIES", secret=True
    )
    kafka_password: str | None = row(None, "Password of SASL", f"{_ENV}KAFKA_PASSWORD", secret=True)

    def __post_init__(self) -> None:
        for name in ("grace", "idle", "drain_timeout"):
            _require(getattr(self, name) >= 0, name, getattr(self, name), "0 or more seconds")
        for name in ("workers", "max_traces", "max_memory_bytes", "max_request_bytes"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        least = self.max_memory_bytes + self.max_request_bytes
        _require(self.max_disk_bytes > least, "max_disk_bytes", self.max_disk_bytes, f"above {least}: what is held")
        _require(bool(self.grpc or self.http), "grpc", self.grpc, "an address, or http one")
        for name in ("grpc", "http"):
            value = getattr(self, name)
            host, _, port = value.rpartition(":")
            _require(not value or bool(host and port.isdigit()), name, value, "host:port")
        _require((self.tls_cert is None) == (self.tls_key is None), "tls_cert", self.tls_cert, "given with tls_key")
        for header in self.headers:
            _require("=" in header, "headers", header.partition("=")[0], "name=value")
        for broker in self.kafka_brokers:
            host, _, port = broker.rpartition(":")
            _require(bool(host and port.isdigit()), "kafka_brokers", broker, "host:port")
        _require(bool(self.kafka_group), "kafka_group", self.kafka_group, "a name")
        _ = self.kafka_client

    @property
    def trusts_incoming_scores(self) -> bool:
        """The setting; by default True where clients show a key or a certificate, or come from this machine alone. Who
        may write to a Kafka topic is the brokers' affair."""
        if self.trust_incoming_scores is not None:
            return self.trust_incoming_scores
        hosts = [address.rpartition(":")[0].strip("[]") for address in (self.grpc, self.http) if address]
        return bool(self.api_keys or self.tls_client_ca) or all(host in _LOOPBACK for host in hosts)

    @property
    def kafka_client(self) -> dict[str, str]:
        """Properties of every client of Kafka; without brokers, none. Raises ConfigurationError."""
        return client_properties(self.kafka_brokers, self.kafka_properties, self.kafka_password)


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
            (each.name, shown(_plain(getattr(self.collector, each.name)), each.metadata["secret"]), origin)
            for each in dataclasses.fields(CollectorSettings)
            for origin in [self.origins[each.name]]
        ]
        return {
            "collector": own,
            "evaluation": [each for each in self.evaluation.rows() if each[0] not in _IN_PROCESS_ONLY],
            "backends": [_backend_row(backend) for backend in self.backends],
        }


def _plain(value: Any) -> Any:
    return (", ".join(value) or None) if isinstance(value, tuple) else value


def configure(
    arguments: Mapping[str, Any], *, file: str | None = None, environ: Mapping[str, str] | None = None
) -> Configuration:
    """Settle every setting. `arguments` are rows of either table by name; None counts as not given.

    Raises ConfigurationError that names the setting, the value and where it came from.
    """
    environ = os.environ if environ is None else environ
    content = _read(file)
    own = {each.name for each in dataclasses.fields(CollectorSettings)}
    values, origins = resolve_table(
        CollectorSettings,
        {name: value for name, value in arguments.items() if name in own},
        environ,
        file=_table(content, "collector"),
    )
    collector = CollectorSettings(**values)
    others = {name: value for name, value in arguments.items() if name not in own}
    evaluation = resolve(others, environ, file=_table(content, "evaluation"))
    return Configuration(
        collector=collector,
        origins=origins,
        evaluation=evaluation,
        backends=_backends(collector, evaluation.settings, content.get("backends") or []),
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
    return _backend({"endpoint": endpoint, "headers": dict(headers or {})}, 0, kafka)


def collector_settings(file: str | None = None) -> CollectorSettings:
    """The part `[collector]` alone, of the file and the environment. Raises ConfigurationError."""
    values, _ = resolve_table(CollectorSettings, {}, os.environ, file=_table(_read(file), "collector"))
    return CollectorSettings(**values)


def unread_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """The RAG_OTEL_* variables that neither table reads, each with the nearest one that is."""
    known = [*variables_of(CollectorSettings), *variables_of(Settings)]
    return [*unknown_variables(known, environ), *unknown_variables(known, environ, prefix=_ENV)]


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


def _backends(
    collector: CollectorSettings, settings: Settings, listed: Sequence[Mapping[str, Any]]
) -> tuple[BackendSettings, ...]:
    headers = dict(header.partition("=")[::2] for header in collector.headers)
    if collector.backend:  # a flag or the environment: in place of what the file lists
        listed = [{"endpoint": endpoint, "headers": headers} for endpoint in collector.backend]
    if not listed and settings.phoenix_endpoint:
        key = {"authorization": f"Bearer {settings.phoenix_api_key}"} if settings.phoenix_api_key else {}
        listed = [
            {
                "name": "phoenix",
                "endpoint": phoenix_base_url(settings.phoenix_endpoint) + "/v1/traces",
                "headers": key,
                "confirm_s": PHOENIX_CONFIRM_S,
            }
        ]
    if not listed:
        raise ConfigurationError(
            "nowhere to forward to: give --backend http://host:4318, [[backends]] in the file, "
            f"{_ENV}BACKEND or RAG_OTEL_PHOENIX_ENDPOINT"
        )
    backends = tuple(_backend(each, number, collector.kafka_client) for number, each in enumerate(listed))
    for backend in backends:
        _forbid_circle(collector, backend)
    names = [backend.name for backend in backends]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"two backends have one name: {', '.join(names)}")
    return backends


def _backend(given: Mapping[str, Any], number: int, kafka: Mapping[str, str]) -> BackendSettings:
    """`kafka`: the properties of the collector's clients of Kafka."""
    default_name = "default" if number == 0 else f"backend-{number + 1}"
    fields = {"name": default_name, **given}
    endpoint = str(fields.get("endpoint") or "")
    scheme = urllib.parse.urlsplit(endpoint).scheme if "://" in endpoint else ""
    if scheme == _KAFKA:
        fields = _topic(fields, kafka)
    elif scheme:
        if scheme not in _SCHEMES:
            allowed = ", ".join((*_SCHEMES, _KAFKA))
            raise ConfigurationError(f"backend {endpoint!r}: the address must start with {allowed} and ://")
        protocol, tls = _SCHEMES[scheme]
        fields = {"protocol": protocol, "tls": tls, **fields}
    if fields.get("protocol") == "grpc":
        fields["endpoint"] = endpoint.partition("://")[2].rstrip("/") or endpoint
    elif not scheme:
        raise ConfigurationError(f"backend {endpoint!r}: say http://, https://, grpc://, grpcs:// or kafka://TOPIC")
    try:
        backend = TypeAdapter(BackendSettings).validate_python(fields)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigurationError(
            f"backend {endpoint!r}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}"
        ) from None
    unknown = sorted(set(fields) - {each.name for each in dataclasses.fields(BackendSettings)})
    if unknown:
        raise ConfigurationError(f"backend {endpoint!r}: unknown setting {', '.join(unknown)}")
    if not backend.name or not all(letter.isalnum() or letter in "-_" for letter in backend.name):
        raise ConfigurationError(f"backend {endpoint!r}: name must be letters, digits, - and _, not {backend.name!r}")
    return backend


def _topic(fields: Mapping[str, Any], kafka: Mapping[str, str]) -> dict[str, Any]:
    """A backend `kafka://TOPIC`, at the collector's brokers. Raises ConfigurationError."""
    address = str(fields["endpoint"])
    properties = {**kafka, **(fields.get("properties") or {})}
    topic = address.partition("://")[2].strip("/")
    if not topic or "/" in topic or ":" in topic:
        raise ConfigurationError(f"backend {address!r}: write kafka://TOPIC; the brokers stand in kafka_brokers")
    if not properties.get(BROKERS):
        raise ConfigurationError(f"backend {address!r}: kafka_brokers is not set")
    return {**fields, "protocol": _KAFKA, "endpoint": topic, "properties": properties}


def _forbid_circle(collector: CollectorSettings, backend: BackendSettings) -> None:
    """Raises ConfigurationError where the collector would forward to itself."""
    if backend.protocol == _KAFKA:
        same_brokers = backend.properties[BROKERS] == collector.kafka_client[BROKERS]
        if same_brokers and backend.endpoint == collector.kafka_topic:
            raise ConfigurationError(
                f"backend kafka://{backend.endpoint} is the topic that the collector reads: set another kafka_topic, "
                "or an empty one to read nothing"
            )
        return
    target = urllib.parse.urlsplit(backend.endpoint if "://" in backend.endpoint else f"//{backend.endpoint}")
    for own in (collector.grpc, collector.http):
        host, _, port = own.rpartition(":")
        if own and port != "0" and str(target.port) == port and target.hostname in {*_LOOPBACK, host.strip("[]")}:
            raise ConfigurationError(f"backend {backend.endpoint!r} is the collector itself")


def _backend_row(backend: BackendSettings) -> tuple[str, str, str]:
    headers = "".join(f", {name}: {MASK}" for name in backend.headers)
    return (
        backend.name,
        redacted_text(backend.endpoint),
        f"{backend.protocol}{' with TLS' if backend.tls else ''}{headers}",
    )


def _require(holds: bool, name: str, value: object, wanted: str) -> None:
    if not holds:
        env = CollectorSettings.__dataclass_fields__[name].metadata["env"][0]
        raise ConfigurationError(f"{name} (environment: {env}) must be {wanted}, not {value!r}")
