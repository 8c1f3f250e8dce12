"""What a backend refuses for good, and messages of a stream that are no requests: kept as files, for somebody to look
at and to send again.

    <folder>/<time>-<process>-<number>.json     one file a refused request: when, why, how many, and the spans as OTLP

The application and the collector write them; `rag-otel dead-letters` lists them and sends them again.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel.durable.state_folder import read_file, write_file
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel.safety.redaction import redacted_text

FOLDER: Final = "dead-letters"
MAX_BYTES: Final = 256 * 2**20
"""Of all files together. What comes then is lost, and counted."""
_LOOK_S: Final = 5.0
_VERSION: Final = 1
_TRACE_IDS: Final = 100
"""Trace ids that a file names; the request has them all."""
_numbers: Final = itertools.count()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A refused request."""

    path: Path
    time_s: float
    """When it was refused, seconds since the epoch."""
    backend: str
    reason: str
    """What the backend said."""
    spans: int
    """How many spans the request has."""
    rejected: int
    """How many of them the backend rejected; it does not say which."""
    trace_ids: tuple[str, ...]
    """Hex, each once, the first hundred."""
    request: bytes
    """A serialised ExportTraceServiceRequest, or what was sent in place of one."""


class DeadLetters:
    """The files of one folder. Several processes may use it at once. Thread-safe."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._looked_at = float("-inf")
        self._known_bytes = 0

    def add(self, request: bytes, *, backend: str, reason: str, rejected: int | None = None) -> bool:
        """Keep a refused request; `rejected` where not all its spans were refused. False, counted, when it is lost.
        Never raises."""
        with guarded("dead_letters.add"):
            ids = _trace_ids(request) if _readable(request) else []
            letter = {
                "version": _VERSION,
                "time": time.time(),
                "backend": redacted_text(backend),
                "reason": redacted_text(reason),
                "spans": len(ids),
                "rejected": len(ids) if rejected is None else rejected,
                "trace_ids": list(dict.fromkeys(ids))[:_TRACE_IDS],
                "request": base64.b64encode(request).decode(),
            }
            data = json.dumps(letter).encode()
            path = self.folder / f"{time.time_ns():020d}-{os.getpid()}-{next(_numbers):06d}.json"
            if self._size() + len(data) <= self._max_bytes and write_file(path, data):
                self._known_bytes += len(data)
                counters.add("dead_letters.kept", len(ids))
                return True
            if counters.add("dead_letters.lost", len(ids)) == len(ids):
                logger.warning("rag-otel: %s takes no more: spans that a backend refuses are lost", self.folder)
        return False

    def all(self) -> Iterator[DeadLetter]:
        """Every letter, oldest first. A file that cannot be read is passed over, with a warning."""
        for path in sorted(self.folder.glob("*.json")):
            if (letter := _read(path)) is not None:
                yield letter

    def remove(self, letter: DeadLetter) -> None:
        """Delete one: it was accepted."""
        letter.path.unlink(missing_ok=True)

    def _size(self) -> int:
        """Of all files, about: what other processes add is seen a moment later."""
        if time.monotonic() - self._looked_at > _LOOK_S:
            self._looked_at, self._known_bytes = time.monotonic(), 0
            with contextlib.suppress(FileNotFoundError), os.scandir(self.folder) as entries:
                self._known_bytes = sum(entry.stat().st_size for entry in entries)
        return self._known_bytes


def _read(path: Path) -> DeadLetter | None:
    try:
        found = json.loads(read_file(path) or b"")
        if found["version"] != _VERSION:
            raise ValueError(f"version {found['version']}, not {_VERSION}")
        return DeadLetter(
            path=path,
            time_s=float(found["time"]),
            backend=str(found["backend"]),
            reason=str(found["reason"]),
            spans=int(found["spans"]),
            rejected=int(found["rejected"]),
            trace_ids=tuple(map(str, found["trace_ids"])),
            request=base64.b64decode(found["request"], validate=True),
        )
    except (ValueError, KeyError, TypeError) as error:
        logger.warning("rag-otel: %s is passed over, it cannot be read: %s", path, error)
        return None


def _trace_ids(request: bytes) -> list[str]:
    """The trace id of every span."""
    return [
        span.trace_id.hex()
        for resource in ExportTraceServiceRequest.FromString(request).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _readable(request: bytes) -> bool:
    try:
        ExportTraceServiceRequest.FromString(request)
    except DecodeError:
        return False
    return True
