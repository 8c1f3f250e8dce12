"""What samplers before us left out."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace._sampling_experimental import composable_traceid_ratio_based, composite_sampler

from rag_otel.processing.sdk_spans import span_record
from rag_otel.sampling.upstream import LOWEST, upstream_probability


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.25, 0.1, 0.003])
def test_the_sdks_own_sampler_is_read(ratio: float) -> None:
    """The probability of the SDK's threshold sampler comes back to 4 digits, which is what it writes."""
    provider = TracerProvider(sampler=composite_sampler(composable_traceid_ratio_based(ratio)))
    for _ in range(100_000):
        span = provider.get_tracer("t").start_span("s")
        if span.is_recording():
            break
    span.end()
    assert upstream_probability(span_record(span).trace_state) == pytest.approx(ratio, rel=1e-3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "probability"),
    [
        ("", 1.0),
        ("ot=th:8", 0.5),
        ("ot=th:0", 1.0),
        ("vendor=th:8", 1.0),
        ("a=b,ot=rv:abcdefabcdefab;th:c", 0.25),
        ("ot=th:c;rv:abcdefabcdefab, x=y", 0.25),
        ("ot=th:", 1.0),
        ("ot=th:xyz", 1.0),
        ("ot=th:000000000000008", 1.0),
        ("ot=th:ffffffffffffff", LOWEST),
        ("ot=oth:8", 1.0),
    ],
)
def test_a_threshold_is_the_rejected_share(header: str, probability: float) -> None:
    """Anything that is not a valid threshold counts as none."""
    assert upstream_probability(header) == probability
