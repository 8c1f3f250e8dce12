"""An evaluation job: a RAG trace with its sampling decision, and its form on the wire.

A job is JSON with a version. Whoever publishes a job twice gives both copies the same key, so that the copies are
recognised: the key depends on the target span alone. The ids of the evaluation spans and the identifiers of the
annotations depend on the target span and on the evaluators, so a second evaluation of a job replaces the first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.model import RagTrace, SamplingDecision, SpanRef
from rag_otel.safety.privacy import content_hidden
from rag_otel_collectors.jobs.queue import QueuedJob

VERSION: Final = 1
TENANT: Final = "tenant"
"""The tag of a trace that names its tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationJob:
    """One RAG trace that a worker evaluates."""

    trace: RagTrace
    decision: SamplingDecision
    resource: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of the target span's resource. The evaluation span gets the same."""
    project: str | None = None
    """The Phoenix project of the target span."""

    @property
    def key(self) -> str:
        """The idempotency key, 32 hex digits."""
        return job_key(self.trace.target)

    @property
    def tenant(self) -> str:
        """Whose job it is: the tag `tenant`, else the service, else nobody in particular."""
        return self.trace.tags.get(TENANT) or self.trace.service or ""


def job_key(target: SpanRef) -> str:
    """Identifies the job of a target span. The same in every process; 32 hex digits."""
    return hashlib.blake2b(f"{target.trace_id}\0{target.span_id}".encode(), digest_size=16).hexdigest()


def may_leave_the_process(trace: RagTrace, *, capture_content: bool = True) -> bool:
    """False if a privacy setting hides any text of the trace. A job carries the texts, so such a trace has no job."""
    return not content_hidden(capture_content=capture_content and trace.capture_content).anything


def queued(job: EvaluationJob) -> QueuedJob:
    """The job as it is published."""
    return QueuedJob(key=job.key, tenant=job.tenant, body=encode(job))


def pack(job: QueuedJob) -> bytes:
    """A published job as a record of a file: key and tenant on the first line, then the body."""
    return json.dumps([job.key, job.tenant]).encode() + b"\n" + job.body


def unpack(record: bytes) -> QueuedJob:
    """The inverse of `pack`. Raises InputError for anything else."""
    head, _, body = record.partition(b"\n")
    try:
        key, tenant = json.loads(head)
    except (ValueError, TypeError) as error:
        raise InputError(f"not a record of a job: {type(error).__name__}") from None
    return QueuedJob(key=str(key), tenant=str(tenant), body=body)


def is_packed(record: bytes) -> bool:
    """True for what `unpack` reads."""
    try:
        unpack(record)
    except InputError:
        return False
    return True


def encode(job: EvaluationJob) -> bytes:
    """The job as JSON, UTF-8. Objects in the metadata of chunks that JSON cannot hold are written as text."""
    fields = _adapter().dump_python(job, mode="json", fallback=str)
    # json escapes what UTF-8 cannot carry (lone surrogates in an answer), pydantic's own writer raises on it.
    return json.dumps({"version": VERSION, "key": job.key, "job": fields}, separators=(",", ":")).encode()


def decode(body: bytes) -> EvaluationJob:
    """Reads a job. Raises InputError for anything else, and for a job of another version."""
    try:
        stored = json.loads(body)
        if stored["version"] != VERSION:
            raise ValueError(f"version {stored['version']!r}, not {VERSION}")
        job: EvaluationJob = _adapter().validate_python(stored["job"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"not an evaluation job: {type(error).__name__}: {str(error)[:200]}") from None
    return job


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter  # imported only by those who publish or work

    return TypeAdapter(EvaluationJob)
