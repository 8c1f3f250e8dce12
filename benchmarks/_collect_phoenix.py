"""Phoenix killed behind a collector: the part `phoenix` of `collector_resilience.py`."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from _collect_load import collector
from _collect_runs import during, ids, report, small, wait


def phoenix(seconds: float, rate: float) -> None:
    """Phoenix killed with -9 under load, started again on the same database, and killed once more as soon as it has
    taken some of what had waited: those spans are acknowledged, and in its memory."""
    from rag_otel.cli.demo.phoenix_server import start_phoenix
    from rag_otel_collectors.stored.phoenix_client import PhoenixClient

    with tempfile.TemporaryDirectory() as folder:
        servers = [start_phoenix(Path(folder))]
        project, port = "resilience", servers[0].port

        def kill() -> None:
            os.kill(servers[-1].pid, 9)
            servers[-1].wait()

        def again() -> None:
            servers.append(start_phoenix(Path(folder), port=port))

        with collector(None, f"phoenix_endpoint={servers[0].base_url}", "grace=0.5") as running:

            def kill_while_behind() -> None:
                sent = running.metric("sent_requests_total")
                wait(lambda: running.metric("sent_requests_total") > sent + 2)
                behind.append(running.metric("unconfirmed_batches"))
                kill()
                again()

            behind: list[float] = []
            events = ((seconds / 4, kill), (seconds * 3 / 4, again), (seconds * 3 / 4, kill_while_behind))
            sent = asyncio.run(during(running, seconds, *events, requests=small(project), per_second=rate))
            wanted = ids(sent.accepted)
            stored = _stored(PhoenixClient(servers[-1].base_url), project, wanted)
            report(
                f"Phoenix killed for {seconds / 2:.0f} s of {seconds:.0f}, then again with spans in its memory",
                sent,
                stored,
                ("batches in its memory then", f"{behind[0]:.0f}"),
                ("batches sent again", f"{running.metric('resent_batches_total'):.0f}"),
            )
        servers[-1].stop()


def _stored(phoenix: Any, project: str, wanted: set[bytes], patience_s: float = 90.0) -> dict[bytes, int]:
    """How often each span is in Phoenix; asked until all are there, or for as long as there are more each time.
    Seldom: reading thousands of spans keeps Phoenix from storing others."""
    counts: dict[bytes, int] = {}
    grown = time.monotonic()
    while not wanted <= counts.keys() and time.monotonic() - grown < patience_s:
        time.sleep(patience_s / 9)
        found = [bytes.fromhex(span["context"]["span_id"]) for span in phoenix.spans(project)]
        if len(found) > sum(counts.values()):
            grown = time.monotonic()
        counts = dict(Counter(found))
    return counts
