"""What is refused for good: requests by a backend, messages of a stream that are no requests, results by a writer.
They are kept for somebody to look at and to send again.

    <folder>/<time>-<random>.letter     when, why, how many, and what was refused

A letter is a file of its own, so that each can be deleted by itself, whichever process has written it. The application
and the collector write them; `rag-otel dead-letters` lists them and sends them again.
"""

from __future__ import annotations

import contextlib
import json
import secrets
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

from rag_otel.durable.record_format import pieces, record_at
from rag_otel.durable.state_folder import private_folder, write_whole
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel.safety.redaction import redacted_text

FOLDER: Final = "dead-letters"
MAX_BYTES: Final = 256 * 2**20
"""Of all files together. What comes then is lost, and counted."""
_SUFFIX: Final = ".letter"
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
        return self.path.stem


class DeadLetters:
    """The letters of one folder. Several processes may use it at once. Thread-safe."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
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
            if self._write(b"".join((_HEAD.pack(len(head)), head, body))):
                counters.add("dead_letters.kept", len(ids))
                return True
        if counters.add("dead_letters.lost", len(ids)) == len(ids):
            logger.warning("rag-otel: %s takes no more: what is refused is lost", self.folder)
        return False

    def all(self) -> Iterator[DeadLetter]:
        """Every letter, oldest first. One that cannot be read is passed over, with a warning."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            if (letter := _read(path)) is not None:
                yield letter

    def remove(self, letter: DeadLetter) -> None:
        """Delete one: it was accepted."""
        letter.path.unlink(missing_ok=True)

    def _write(self, payload: bytes) -> bool:
        if self._size() + len(payload) > self._max_bytes:
            return False
        try:
            private_folder(self.folder)
            name = f"{time.time_ns():020d}-{secrets.token_hex(3)}{_SUFFIX}"
            write_whole(self.folder / name, b"".join(pieces(payload)))
        except OSError:
            return False
        self._known_bytes += len(payload)
        return True

    def _size(self) -> int:
        """Of all files, about: what other processes add is seen a moment later."""
        if time.monotonic() - self._looked_at > _LOOK_S:
            self._looked_at, self._known_bytes = time.monotonic(), 0
            for path in self.folder.glob("*"):
                with contextlib.suppress(FileNotFoundError):
                    self._known_bytes += path.stat().st_size
        return self._known_bytes


def _read(path: Path) -> DeadLetter | None:
    try:
        if (record := record_at(path.read_bytes(), 0)) is None:
            raise ValueError("it is damaged")
        payload = record.payload
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
    except FileNotFoundError:  # deleted meanwhile
        return None
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        logger.warning("rag-otel: %s is passed over, it cannot be read: %.200s", path, error)
        return None


def _trace_ids(request: bytes) -> list[str]:
    """The trace id of every span; none of what is no request."""
    try:
        resources = ExportTraceServiceRequest.FromString(request).resource_spans
    except DecodeError:
        return []
    return [span.trace_id.hex() for resource in resources for scope in resource.scope_spans for span in scope.spans]
