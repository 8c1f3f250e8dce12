"""The queues on disk: what is held, what waits to be forwarded, jobs that wait to be published.

A held span is written to the journal, and when its trace is released to the outbox: 12 microseconds of a trace's
several thousand. One record for both would keep a held trace's files until the slowest backend has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_otel.durable.journal import Journal
from rag_otel.durable.state_folder import check_format, mark_format
from rag_otel.errors import ConfigurationError
from rag_otel_collectors.jobs.job import is_packed
from rag_otel_collectors.otlp.assembly.disk import Queue
from rag_otel_collectors.otlp.exporters.job_forwarder import READER, JobForwarder
from rag_otel_collectors.otlp.exporters.outbox import Outbox
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.requests.wire import is_request
from rag_otel_collectors.otlp.settings_table import CollectorSettings

if TYPE_CHECKING:
    from rag_otel_collectors.jobs.job_queue import JobQueue

_SEGMENT_BYTES: Final = 16 * 2**20


@dataclass(frozen=True, kw_only=True)
class Queues:
    """All on one disk."""

    journal: Journal
    """Spans of traces that are assembled or evaluated."""
    outbox: Outbox
    jobs: JobForwarder | None
    """Traces that workers evaluate; None: they are evaluated here."""

    @classmethod
    def open(
        cls, settings: CollectorSettings, backends: Sequence[str], job_queue: JobQueue | None, metrics: Metrics
    ) -> Queues:
        """With what an earlier process left in them. `backends`: their names. Raises ConfigurationError."""
        folder, segment_bytes = Path(settings.data_dir), min(_SEGMENT_BYTES, settings.max_disk_bytes // 8)
        check_format(folder, "data_dir")
        try:
            mark_format(folder)
            journal = Journal(
                folder / "journal", readable=is_request, segment_bytes=segment_bytes, fsync=settings.fsync
            )
            outbox = Outbox(folder / "outbox", backends, segment_bytes=segment_bytes, fsync=settings.fsync)
            jobs = None
            if job_queue is not None:
                waiting = Outbox(
                    folder / "jobs", [READER], segment_bytes=segment_bytes, fsync=settings.fsync, readable=is_packed
                )
                jobs = JobForwarder(waiting, job_queue, metrics)
        except OSError as error:
            raise ConfigurationError(f"data_dir {settings.data_dir!r} cannot be used: {error}") from None
        return cls(journal=journal, outbox=outbox, jobs=jobs)

    @property
    def named(self) -> Mapping[str, Queue]:
        """The queues by the names that metrics and messages have for them."""
        jobs = {} if self.jobs is None else {"jobs": self.jobs.outbox}
        return {"journal": self.journal, "outbox": self.outbox, **jobs}

    async def close(self) -> None:
        """What is in them stays on disk. Safe to call twice."""
        if self.jobs is not None:
            await self.jobs.close()
        self.journal.close()
        self.outbox.close()
