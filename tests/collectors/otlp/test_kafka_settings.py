"""Settings of the span stream, without a broker."""

from __future__ import annotations

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel_collectors.otlp.exporters.connection import connect
from rag_otel_collectors.otlp.kafka import make_client
from rag_otel_collectors.otlp.requests.wire import by_trace, join, split, without_repeats
from rag_otel_collectors.otlp.settings import Configuration, configure
from testkit.otlp_requests import a_rag_trace, a_request, a_span


def made(**arguments: str) -> Configuration:
    return configure({"backend": "http://127.0.0.1:9", **arguments}, environ={})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kafka_brokers": "kafka"}, "kafka_brokers .* must be host:port, not 'kafka'"),
        ({"kafka_properties": "security.protocol"}, "kafka_properties must be name=value"),
        ({"kafka_properties": "group.id=other"}, "must not contain group.id: set kafka_group instead"),
        ({"kafka_properties": "enable.auto.commit=false"}, "must not contain enable.auto.commit: leave it out"),
        ({"backend": "kafka://spans"}, "kafka_brokers is not set"),
        ({"backend": "kafka://broker:9092/spans", "kafka_brokers": "kafka:9092"}, "write kafka://TOPIC"),
        ({"backend": "kafka://otlp_spans", "kafka_brokers": "kafka:9092"}, "is the topic that the collector reads"),
    ],
)
def test_wrong_settings_are_named_with_the_way_out(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        made(**arguments)


def test_a_property_that_the_client_does_not_know_is_named() -> None:
    settings = made(kafka_brokers="kafka:9092", kafka_properties="no.such.property=1").collector
    with pytest.raises(ConfigurationError, match=r"no\.such\.property"):
        make_client("Consumer", {"group.id": "x", **settings.kafka_client})
    (backend,) = made(
        backend="kafka://enriched", kafka_brokers="kafka:9092", kafka_properties="no.such.property=1"
    ).backends
    with pytest.raises(ConfigurationError, match=r"no\.such\.property"):
        connect(backend)


def test_secrets_among_the_properties_are_not_shown() -> None:
    given = made(
        backend="kafka://enriched",
        kafka_brokers="kafka:9092",
        kafka_properties="ssl.key.password=first-made-up,security.protocol=SASL_SSL",
        kafka_password="second-made-up",
    )
    assert {"first-made-up", "second-made-up"} <= set(given.secrets)
    assert "SASL_SSL" not in given.secrets
    assert "made-up" not in f"{given.rows()} {given.backends} {given.collector}"


def test_a_request_is_split_by_trace_and_repeats_are_dropped() -> None:
    """What is put together again are the same spans, byte for byte."""
    traces = [a_rag_trace() for _ in range(3)]
    spans = [trace[number] for number in (0, 1) for trace in traces]
    request = a_request(*spans, a_span(b"")).SerializeToString()
    parts = by_trace(request)
    assert list(parts) == [*(trace[0].trace_id for trace in traces), b""]
    assert sorted(item for part in parts.values() for item in split(part)) == sorted(split(request))
    twice = split(request) + split(join(split(request)))
    assert without_repeats(twice) == split(request)
