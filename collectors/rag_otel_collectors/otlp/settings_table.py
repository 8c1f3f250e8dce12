"""The collector's own table of settings: the part `[collector]` of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from rag_otel.settings.rows import AT_LEAST_0, AT_LEAST_1, Must, require, row, rows_of
from rag_otel_collectors.otlp.kafka import client_properties

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


def _is_host_and_port(address: str) -> bool:
    host, _, port = address.rpartition(":")
    return bool(host) and port.isdigit()


_HOST_PORT: Final = Must("host:port", _is_host_and_port)
_LISTENING: Final = Must("host:port", lambda value: not value or _is_host_and_port(value))
_PAIR: Final = Must("name=value", lambda value: "=" in value)
_NAME: Final = Must("a name", bool)


@dataclass(frozen=True, kw_only=True)
class CollectorSettings:
    """How the collector receives, holds and keeps. Times in seconds, sizes in bytes."""

    environment: ClassVar[str] = "RAG_OTEL_COLLECTOR_"
    """Begins the rows' names in the environment."""

    grpc: str = row("127.0.0.1:4317", "Where OTLP/gRPC is received; empty: nowhere", must=_LISTENING)
    http: str = row("127.0.0.1:4318", "Where OTLP/HTTP is received, and the probes", must=_LISTENING)
    backend: tuple[str, ...] = row((), "Where to forward: grpc(s)://host:port or http(s)://host:port")
    headers: tuple[str, ...] = row((), "Sent to these backends, name=value", secret=True, must=_PAIR)
    data_dir: str = row(".rag-otel/collector", "Folder of the queues on disk")
    api_keys: tuple[str, ...] = row((), "Keys that clients must show one of", secret=True)
    tls_cert: str | None = row(None, "Certificate for clients, PEM")
    tls_key: str | None = row(None, "Its key, PEM")
    tls_client_ca: str | None = row(None, "Let in only clients with a certificate of this CA")
    trust_incoming_scores: bool | None = row(
        None,
        "Whether scores that spans bring along hold; else they are taken off. By default where no stranger can send",
    )
    workers: int = row(1, "Processes that evaluate", must=AT_LEAST_1)
    grace: float = row(2.0, "Wait after the end of a trace's root", must=AT_LEAST_0)
    idle: float = row(30.0, "A trace without new spans is taken for complete after", must=AT_LEAST_0)
    max_traces: int = row(10_000, "Traces in memory, at most", must=AT_LEAST_1)
    max_memory_bytes: int = row(128 * 2**20, "Held spans in memory, at most", must=AT_LEAST_1)
    max_disk_bytes: int = row(2**30, "Queues on disk, at most")
    max_request_bytes: int = row(16 * 2**20, "One request, unpacked, at most", must=AT_LEAST_1)
    fsync: bool = row(False, "True: what is accepted survives a power cut too")
    drain_timeout: float = row(25.0, "To finish what is here after SIGTERM", must=AT_LEAST_0)
    kafka_brokers: tuple[str, ...] = row((), "Brokers of Kafka, host:port", must=_HOST_PORT)
    kafka_topic: str = row("otlp_spans", "Topic that spans are read from; empty: none")
    kafka_group: str = row("rag-otel", "Consumer group of the collectors", must=_NAME)
    kafka_member: str | None = row(None, "Lasting name of this collector in the group")
    kafka_properties: tuple[str, ...] = row((), "Properties of librdkafka, name=value", secret=True)
    kafka_password: str | None = row(None, "Password of SASL", secret=True)

    def __post_init__(self) -> None:
        rows = rows_of(CollectorSettings)
        least = self.max_memory_bytes + self.max_request_bytes
        wanted = f"above {least}: what is held"
        require(self.max_disk_bytes > least, rows["max_disk_bytes"], self.max_disk_bytes, wanted)
        require(bool(self.grpc or self.http), rows["grpc"], self.grpc, "an address, or http one")
        both = (self.tls_cert is None) == (self.tls_key is None)
        require(both, rows["tls_cert"], self.tls_cert, "given with tls_key")
        _ = self.kafka_client

    @property
    def trusts_incoming_scores(self) -> bool:
        """The setting; by default True where clients show a key or a certificate, or come from this machine alone. Who
        may write to a Kafka topic is the brokers' affair."""
        if self.trust_incoming_scores is not None:
            return self.trust_incoming_scores
        hosts = [address.rpartition(":")[0].strip("[]") for address in (self.grpc, self.http) if address]
        return bool(self.api_keys or self.tls_client_ca) or all(host in LOOPBACK for host in hosts)

    @property
    def reads_kafka(self) -> bool:
        """True where spans are read from a topic."""
        return bool(self.kafka_brokers and self.kafka_topic)

    @property
    def kafka_client(self) -> dict[str, str]:
        """Properties of every client of Kafka; without brokers, none. Raises ConfigurationError."""
        return client_properties(self.kafka_brokers, self.kafka_properties, self.kafka_password)
