"""A Celery application whose tracing is set up where its module is imported, in the parent of the prefork pool."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import worker_process_shutdown

from tests.processing.forking_app import application

queue = os.environ["RAG_TEST_QUEUE"]
app = Celery(broker="filesystem://")
app.conf.broker_transport_options = {
    "data_folder_in": queue,
    "data_folder_out": queue,
    "control_folder": f"{queue}/control",
}


@app.task(name="ask")  # type: ignore[untyped-decorator]
def ask(name: str) -> None:
    """One observed call in a pool process."""
    application.ask(name)


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def _shutdown(**_: Any) -> None:
    # Pool processes leave without atexit handlers: whoever wants the last spans flushes here, with rag-otel or without.
    application.provider.shutdown()
