"""The backends that the collector forwards to, as the settings name them."""

from __future__ import annotations

import dataclasses
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from rag_otel.errors import ConfigurationError
from rag_otel.settings import Settings
from rag_otel.settings.unknown import with_nearest
from rag_otel.writers.phoenix_links import phoenix_base_url
from rag_otel_collectors.otlp.exporters.connection import BackendSettings
from rag_otel_collectors.otlp.kafka import BROKERS
from rag_otel_collectors.otlp.settings_table import LOOPBACK, CollectorSettings

_SCHEMES: Final = {"grpc": ("grpc", False), "grpcs": ("grpc", True), "http": ("http", False), "https": ("http", True)}
_KAFKA: Final = "kafka"


def backends_of(
    collector: CollectorSettings, settings: Settings, listed: Sequence[Mapping[str, Any]]
) -> tuple[BackendSettings, ...]:
    """`listed`: as the file names them; what the collector's own settings name comes before, a Phoenix after them.
    Raises ConfigurationError."""
    headers = dict(header.partition("=")[::2] for header in collector.headers)
    if collector.backend:  # a flag or the environment: in place of what the file lists
        listed = [{"endpoint": endpoint, "headers": headers} for endpoint in collector.backend]
    if not listed and settings.phoenix_endpoint:
        key = {"authorization": f"Bearer {settings.phoenix_api_key}"} if settings.phoenix_api_key else {}
        endpoint = phoenix_base_url(settings.phoenix_endpoint) + "/v1/traces"
        listed = [{"name": "phoenix", "endpoint": endpoint, "headers": key}]
    if not listed:
        raise ConfigurationError(
            "nowhere to forward to: give --backend http://host:4318, [[backends]] in the file, "
            "RAG_OTEL_COLLECTOR_BACKEND or RAG_OTEL_PHOENIX_ENDPOINT"
        )
    backends = tuple(backend_of(each, number, collector.kafka_client) for number, each in enumerate(listed))
    for backend in backends:
        _forbid_circle(collector, backend)
    names = [backend.name for backend in backends]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"two backends have one name: {', '.join(names)}")
    return backends


def backend_of(given: Mapping[str, Any], number: int, kafka: Mapping[str, str]) -> BackendSettings:
    """One backend, checked. `kafka`: the properties of the collector's clients of Kafka. Raises ConfigurationError."""
    default_name = "default" if number == 0 else f"backend-{number + 1}"
    fields = {"name": default_name, **given}
    endpoint = str(fields.get("endpoint") or "")
    scheme = urllib.parse.urlsplit(endpoint).scheme if "://" in endpoint else ""
    if scheme == _KAFKA:
        fields = _topic(fields, kafka)
    elif scheme:
        if scheme not in _SCHEMES:
            raise _unknown_scheme(endpoint)
        protocol, tls = _SCHEMES[scheme]
        fields = {"protocol": protocol, "tls": tls, **fields}
    if fields.get("protocol") == "grpc":
        fields["endpoint"] = endpoint.partition("://")[2].rstrip("/") or endpoint
    elif not scheme:
        raise _unknown_scheme(endpoint)
    try:
        backend = TypeAdapter(BackendSettings).validate_python(fields)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigurationError(
            f"backend {endpoint!r}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}"
        ) from None
    known = {each.name: each.name for each in dataclasses.fields(BackendSettings)}
    if unknown := sorted(set(fields) - set(known)):
        guesses = ", ".join(with_nearest(name, known) for name in unknown)
        raise ConfigurationError(f"backend {endpoint!r}: unknown setting {guesses}")
    if not backend.name or not all(letter.isalnum() or letter in "-_" for letter in backend.name):
        raise ConfigurationError(f"backend {endpoint!r}: name must be letters, digits, - and _, not {backend.name!r}")
    return backend


def _unknown_scheme(endpoint: str) -> ConfigurationError:
    allowed = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
    return ConfigurationError(f"backend {endpoint!r}: the address must start with {allowed} or be {_KAFKA}://TOPIC")


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
        if own and port != "0" and str(target.port) == port and target.hostname in {*LOOPBACK, host.strip("[]")}:
            raise ConfigurationError(f"backend {backend.endpoint!r} is the collector itself")
