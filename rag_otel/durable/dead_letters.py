"""What is refused for good: requests by a backend, messages of a stream that are no requests, results by a writer.
They are kept for somebody to look at and to send again.

    <folder>/<log of a process>/<number>.log     one letter a file: when, why, how many, and what was refused

The application and the collector write them; `rag-otel dead-letters` lists them and sends them again.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import TypeAdapter

from rag_otel.durable.process_logs import DAMAGED, LogReader, LogWriter, logs_in
from rag_otel.durable.segment_files import SegmentFiles
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel.safety.redaction import redacted_text

FOLDER: Final = "dead-letters"
MAX_BYTES: Final = 256 * 2**20
"""Of all files together. What comes then is lost, and counted."""
_LOOK_S: Final = 5.0
_TRACE_IDS: Final = 100
"""Trace ids that a letter names; the request has them all."""
_HEAD: Final = struct.Struct("<I")
_RESULT: Final = "result"
_REQUEST: Final = "request"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """What was refused."""

    path: Path
    """The file that it stands in, alone."""
    time_s: float
    """When it was refused, seconds since the epoch."""
    backend: str
    """The name of the backend, or of the writer."""
    reason: str
    """What the backend said."""
    spans: int
    """How many spans the request has; one for a result."""
    rejected: int
    """How many of them the backend rejected; it does not say which."""
    trace_ids: tuple[str, ...]
    """Hex, each once, the first hundred."""
    request: bytes
    """A serialised ExportTraceServiceRequest, or what was sent in place of one; empty for a result."""
    result: EvaluatedTrace | None = None
    """The result that a writer could not write."""

    @property
    def name(self) -> str:
        """Tells it apart, in lists and on the command line."""
        return f"{self.path.parent.name}-{int(self.path.stem)}"


class DeadLetters:
    """The letters of one folder. Several processes may use it at once. Thread-safe."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._log: LogWriter | None = None
        self._process = os.getpid()
        self._looked_at = float("-inf")
        self._known_bytes = 0

    def add(self, request: bytes, *, backend: str, reason: str, rejected: int | None = None) -> bool:
        """Keep a refused request; `rejected` where not all its spans were refused. False, counted, when it is lost.
        Never raises."""
        with guarded("dead_letters.add"):
            return self._add(_REQUEST, request, _trace_ids(request), backend=backend, reason=reason, rejected=rejected)
        return False

    def add_result(self, result: EvaluatedTrace, *, writer: str, reason: str) -> bool:
        """The same for a result that a writer cannot write."""
        with guarded("dead_letters.add_result"):
            # json escapes what UTF-8 cannot carry (lone surrogates in an answer), pydantic's own writer raises on it.
            fields = TypeAdapter(EvaluatedTrace).dump_python(result, mode="json", exclude={"origin"})
            ids = [result.trace.target.trace_id]
            return self._add(_RESULT, json.dumps(fields).encode(), ids, backend=writer, reason=reason)
        return False

    def _add(
        self, kind: str, body: bytes, ids: Sequence[str], *, backend: str, reason: str, rejected: int | None = None
    ) -> bool:
        letter = {
            "kind": kind,
            "time": time.time(),
            "backend": redacted_text(backend),
            "reason": redacted_text(reason),
            "spans": len(ids),
            "rejected": len(ids) if rejected is None else rejected,
            "trace_ids": list(dict.fromkeys(ids))[:_TRACE_IDS],
        }
        head = json.dumps(letter).encode()
        with self._lock:
            if self._append(b"".join((_HEAD.pack(len(head)), head, body))):
                counters.add("dead_letters.kept", len(ids))
                return True
        if counters.add("dead_letters.lost", len(ids)) == len(ids):
            logger.warning("rag-otel: %s takes no more: what is refused is lost", self.folder)
        return False

    def all(self) -> Iterator[DeadLetter]:
        """Every letter, oldest first. One that cannot be read is passed over, with a warning."""
        for log in logs_in(self.folder):
            files = SegmentFiles(log, damaged=self.folder.with_name(DAMAGED), growing=True)
            try:
                for payload, position in files.records():
                    if (letter := _read(log / f"{position.segment:010}.log", payload)) is not None:
                        yield letter
            finally:
                files.close()

    def remove(self, letter: DeadLetter) -> None:
        """Delete one: it was accepted."""
        letter.path.unlink(missing_ok=True)
        log = LogReader(letter.path.parent)
        try:
            if not any(each.stat().st_size for each in letter.path.parent.glob("*.log")) and log.abandoned():
                log.delete()
        finally:
            log.close()

    def _append(self, payload: bytes) -> bool:
        if self._process != os.getpid():  # a fork: that log is the parent's
            self._process, self._log = os.getpid(), None
        if self._size() + len(payload) > self._max_bytes:
            return False
        try:
            if self._log is None:
                # A file for each letter, so that each can be deleted by itself.
                self._log = LogWriter(self.folder, segment_bytes=1, max_bytes=self._max_bytes)
            self._log.append([payload])
        except OSError:
            return False
        self._known_bytes += len(payload)
        return True

    def _size(self) -> int:
        """Of all files, about: what other processes add is seen a moment later."""
        if time.monotonic() - self._looked_at > _LOOK_S:
            self._looked_at, self._known_bytes = time.monotonic(), 0
            for path in self.folder.rglob("*.log"):
                with contextlib.suppress(FileNotFoundError):
                    self._known_bytes += path.stat().st_size
        return self._known_bytes


def _read(path: Path, payload: bytes) -> DeadLetter | None:
    try:
        end = _HEAD.size + _HEAD.unpack_from(payload)[0]
        found: dict[str, Any] = json.loads(payload[_HEAD.size : end])
        body, is_result = payload[end:], found["kind"] == _RESULT
        return DeadLetter(
            path=path,
            time_s=float(found["time"]),
            backend=str(found["backend"]),
            reason=str(found["reason"]),
            spans=int(found["spans"]),
            rejected=int(found["rejected"]),
            trace_ids=tuple(map(str, found["trace_ids"])),
            request=b"" if is_result else body,
            result=TypeAdapter(EvaluatedTrace).validate_python(json.loads(body)) if is_result else None,
        )
    except (ValueError, KeyError, TypeError, struct.error) as error:
        logger.warning("rag-otel: %s is passed over, it cannot be read: %.200s", path, error)
        return None


def _trace_ids(request: bytes) -> list[str]:
    """The trace id of every span; none of what is no request."""
    try:
        resources = ExportTraceServiceRequest.FromString(request).resource_spans
    except DecodeError:
        return []
    return [span.trace_id.hex() for resource in resources for scope in resource.scope_spans for span in scope.spans]
