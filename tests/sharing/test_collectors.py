"""Two collectors with one state folder watch as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.collector import a_backend, a_collector
from testkit.otlp_requests import ANSWER, a_rag_trace, a_request
from testkit.polling import eventually
from tests.support.states import state_of

pytestmark = [pytest.mark.server, pytest.mark.long]


def test_two_collectors_learn_one_baseline(tmp_path: Path) -> None:
    """Neither sees enough answers for a baseline by itself; one of the pages shows what both have seen."""
    shared = tmp_path / "state"
    with a_backend() as backend:
        options = ["--backend", backend.address, "--set", "drift_baseline_count=20", "--set", f"state_folder={shared}"]
        with a_collector(tmp_path / "a", *options) as a, a_collector(tmp_path / "b", *options) as b:
            for number in range(28):
                answer = f"{ANSWER} It is {number} metres wide."
                (a, b)[number % 2].export(a_request(*a_rag_trace(answer=answer)))
            pages = (a, b)
            eventually(
                lambda: any("rag_otel_drift_baseline" in each.get("/metrics")[1] for each in pages), within_s=90.0
            )
            assert a.stop() == 0
            assert b.stop() == 0
    assert state_of(shared, "drift", part="shared")["family"]["count"] == 28
