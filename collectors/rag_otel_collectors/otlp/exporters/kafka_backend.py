"""A backend that is a topic of Kafka: one message for each trace of a batch, with the trace id in hex as its key.

This is how the OpenTelemetry Collector's Kafka exporter writes with `encoding: otlp_proto` and
`partition_traces_by_id: true`, so whatever reads its topics reads these. A trace that is too large for one message
becomes several with the same key.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from rag_otel.errors import RetryableError
from rag_otel.safety.guard import logger
from rag_otel_collectors.otlp.exporters.connection import (
    BackendAwayError,
    BackendRefusalError,
    BackendSettings,
    Connection,
    Rejected,
)
from rag_otel_collectors.otlp.kafka import make_client
from rag_otel_collectors.otlp.requests.wire import by_trace, halves

_MAX_BYTES: Final = "message.max.bytes"
_OVERHEAD_BYTES: Final = 512
"""Of a message, for its key and headers."""
_ROOM_S: Final = 0.1
_FATAL: Final = "_FATAL"
_REFUSALS: Final = frozenset({"MSG_SIZE_TOO_LARGE", "INVALID_MSG", "INVALID_RECORD"})
_AWAY: Final = frozenset({"_MSG_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT"})


class KafkaConnection(Connection):
    """A producer for one topic."""

    def __init__(self, settings: BackendSettings) -> None:
        """Raises ConfigurationError. Connects with the first `send`."""
        self._topic = settings.endpoint
        self._timeout_s = settings.timeout_s
        self._properties: dict[str, Any] = {
            "acks": "all",
            "enable.idempotence": True,
            "compression.type": settings.compression,
            _MAX_BYTES: 1_000_000,
            **settings.properties,
            "message.timeout.ms": max(1, int(settings.timeout_s * 1000)),
        }
        self._max_bytes = int(self._properties[_MAX_BYTES]) - _OVERHEAD_BYTES
        self._producer = make_client("Producer", self._properties)

    async def send(self, request: bytes) -> Rejected:
        messages = [
            (trace_id.hex(), part) for trace_id, of_trace in by_trace(request).items() for part in self._parts(of_trace)
        ]
        await asyncio.to_thread(self._produce, messages)
        return Rejected()

    async def close(self) -> None:
        await asyncio.to_thread(self._producer.flush, 0)

    def _parts(self, request: bytes) -> list[bytes]:
        """Nothing is sent of a batch of which one span is too large, so that its other spans are not sent twice."""
        if len(request) <= self._max_bytes:
            return [request]
        two = halves(request)
        if two is None:
            raise BackendRefusalError(f"a span of {len(request)} bytes is larger than {_MAX_BYTES} allows")
        return [*self._parts(two[0]), *self._parts(two[1])]

    def _produce(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Raises the first failure; then the batch is sent again as a whole."""
        from confluent_kafka import KafkaException

        errors: list[Any] = []

        def delivered(error: Any, _: Any) -> None:
            if error is not None:
                errors.append(error)

        try:
            for key, value in messages:
                if not errors:
                    self._put(key, value, delivered)
            left = self._producer.flush(self._patience_s)
        except KafkaException as error:
            raise self._problem(error.args[0]) from None
        except SystemError as error:  # its delivery reports are called while it raises a fatal error
            raise self._made_anew(str(error.__cause__ or error)) from None
        if left:
            self._producer.purge()
            raise BackendAwayError(f"{left} messages were not taken within {self._timeout_s:g} s")
        if errors:
            raise self._problem(errors[0])

    def _put(self, key: str, value: bytes, delivered: Callable[[Any, Any], None]) -> None:
        """Hand a message to the producer, once its queue has room: a message leaves it after `timeout_s` at most."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                self._producer.produce(self._topic, value, key=key, on_delivery=delivered)
                return
            except BufferError:
                if time.monotonic() >= deadline:
                    self._producer.purge()
                    raise BackendAwayError(
                        f"a message of {len(value)} bytes found no room in the producer's queue within "
                        f"{self._timeout_s:g} s (queue.buffering.max.messages, queue.buffering.max.kbytes)"
                    ) from None
                self._producer.poll(_ROOM_S)

    @property
    def _patience_s(self) -> float:
        """Somewhat longer than a message may wait in the producer."""
        return self._timeout_s + 1

    def _problem(self, error: Any) -> RetryableError | BackendRefusalError:
        said = f"{error.name()}: {error.str()}"
        if error.fatal() or error.name() == _FATAL:
            return self._made_anew(said)
        if error.name() in _REFUSALS:
            return BackendRefusalError(said)
        if error.name() in _AWAY:
            return BackendAwayError(said)
        # Also what only the operator can mend (rights, a topic that does not exist): what waits is safe meanwhile.
        return RetryableError(said)

    def _made_anew(self, said: str) -> RetryableError:
        """A producer takes nothing more after a fatal error."""
        logger.error("rag-otel: the producer for %s cannot go on and is made anew: %s", self._topic, said)
        self._producer = make_client("Producer", self._properties)
        return RetryableError(said)
