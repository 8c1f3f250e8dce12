"""Which tracer provider is used, and how one is made where the application has none."""

from __future__ import annotations

import os
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from rag_otel import semconv
from rag_otel.errors import ConfigurationError
from rag_otel.processing import global_provider
from rag_otel.safety.guard import counters, logger
from rag_otel.settings import Settings
from rag_otel.writers.phoenix_links import phoenix_base_url

_MAX_ATTRIBUTES: Final = 10_000
"""The SDK's default of 128 evicts the oldest keys: 45 flattened chunks push `input.value` out.
OpenInference raises it to the same number."""


def given_or_global(given: object | None) -> TracerProvider | None:
    """The provider to attach to: the given one, else the application's global one, else None.

    Raises ConfigurationError for something that is no SDK provider.
    """
    if given is not None:
        found = global_provider.sdk_provider(given)
        if found is None:
            raise ConfigurationError(
                f"tracer_provider must be an opentelemetry.sdk.trace.TracerProvider, not {type(given).__qualname__}; "
                "leave it out to use the global one"
            )
        return found
    return global_provider.current()


def make(settings: Settings) -> TracerProvider:
    """A provider that exports over OTLP to Phoenix, or to where OpenTelemetry's own variables point; nowhere where
    neither is set (`exports` tells)."""
    resource = Resource.create({semconv.PROJECT_NAME: settings.project_name} if settings.project_name else {})
    provider = TracerProvider(resource=resource, span_limits=_limits())
    exporter = _exporter(settings)
    if exporter is not None:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    _made_for[provider] = _destination(settings) if exporter is not None else None
    return provider


def exports(provider: TracerProvider) -> bool:
    """False for a provider that was made with nowhere to export to."""
    return _made_for.get(provider, ("the application's", None, None)) is not None


def fits(provider: TracerProvider, settings: Settings) -> bool:
    """False for a provider that was made for another address or project: it cannot be changed."""
    made_for = _made_for.get(provider)
    return made_for is None or made_for == _destination(settings)


def warn_of_another_project(provider: TracerProvider, settings: Settings) -> None:
    """Say so where the application's provider sends to another Phoenix project than the settings name."""
    project = provider.resource.attributes.get(semconv.PROJECT_NAME, "default")
    if settings.project_name not in (None, project):
        logger.warning(
            "rag-otel: project_name=%r does not change where spans go: the application's tracer provider sends them to "
            "project %r. Name the project where that provider is made: phoenix.otel.register(project_name=...), or the "
            "resource attribute %s",
            settings.project_name,
            project,
            semconv.PROJECT_NAME,
        )


def warn_of_nowhere() -> None:
    """Say once that spans go nowhere."""
    if counters.add("provider.exports_nowhere") == 1:
        logger.warning(
            "rag-otel: spans are evaluated but exported nowhere; set phoenix_endpoint=... (RAG_OTEL_PHOENIX_ENDPOINT) "
            "or OTEL_EXPORTER_OTLP_ENDPOINT, or set a tracer provider: it is followed, also later"
        )


_Destination: TypeAlias = tuple[str | None, str | None, str | None]
_made_for: Final[WeakKeyDictionary[TracerProvider, _Destination | None]] = WeakKeyDictionary()
"""What a provider of ours was made for; None: it exports nowhere."""


def _destination(settings: Settings) -> _Destination:
    return settings.phoenix_endpoint, settings.phoenix_api_key, settings.project_name


def _limits() -> SpanLimits:
    """Roomy limits for documents, unless the environment sets its own."""
    asked = any(os.environ.get(name) for name in ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"))
    return SpanLimits() if asked else SpanLimits(max_span_attributes=_MAX_ATTRIBUTES)


def _exporter(settings: Settings) -> SpanExporter | None:
    if os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return None
    if settings.phoenix_endpoint:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        key = settings.phoenix_api_key
        return OTLPSpanExporter(
            endpoint=phoenix_base_url(settings.phoenix_endpoint) + "/v1/traces",
            headers={"authorization": f"Bearer {key}"} if key else None,
        )
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    return _otlp_exporter() if endpoint else None


def _otlp_exporter() -> SpanExporter:
    """The exporter that OpenTelemetry's own variables ask for; they also give its address and headers."""
    protocol = (
        os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
        or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "http/protobuf"
    )
    if protocol == "http/protobuf":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter()
    if protocol != "grpc":
        raise ConfigurationError(f"OTEL_EXPORTER_OTLP_PROTOCOL={protocol!r} is not one of http/protobuf, grpc")
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
    except ImportError:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_PROTOCOL=grpc needs the gRPC exporter: pip install 'rag-otel[otlp]'"
        ) from None
    return GrpcSpanExporter()
