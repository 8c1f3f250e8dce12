"""Several collectors, each of which gets the traces that a hash of their ids assigns to it."""

from __future__ import annotations

from collections import Counter

import pytest

from rag_otel import semconv
from testkit.collector import Backend, CollectorProcess
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually
from testkit.several_collectors import kill_rounds
from testkit.trace_router import Ring

pytestmark = pytest.mark.server


def test_a_retrieval_without_the_rest_of_its_trace_gets_a_status(backend: Backend, collector: CollectorProcess) -> None:
    """Its answer went to another collector. Here, nothing comes any more."""
    child, _ = a_rag_trace()
    child.name = "left behind"
    collector.export(a_request(child))
    (attributes,) = eventually(lambda: backend.attributes("left behind"), within_s=120)
    assert attributes[semconv.STATUS] == "skipped"
    assert attributes[semconv.STATUS_REASON] == "no_response"


def test_the_ring_of_the_router_moves_the_traces_of_one_endpoint_only() -> None:
    traces = [number.to_bytes(16, "big") for number in range(3000)]
    three, two = Ring(["a:1", "b:1", "c:1"]), Ring(["a:1", "b:1"])
    before = {trace: three.endpoint(trace) for trace in traces}
    assert min(Counter(before.values()).values()) > 500
    assert all(before[trace] in ("c:1", two.endpoint(trace)) for trace in traces)


@pytest.mark.long
@pytest.mark.parametrize("whole", [False, True])
def test_the_death_of_one_loses_nothing_and_every_trace_has_a_status(whole: bool) -> None:
    """kill -9 under load, and a restart with the same folder. With whole traces none is divided."""
    outcome = kill_rounds(1, whole=whole)
    assert (outcome.lost, outcome.doubled_scores, outcome.without_status) == (0, 0, 0)
    assert not whole or outcome.without_score == 0
