"""Haystack under OpenInference, its one instrumentation that knows Haystack 3."""

from __future__ import annotations

import pytest

from testkit.when_used import WhenUsed
from tests.frameworks.kit import ANSWER, QUESTION, TEXTS, running, told

HaystackInstrumentor = WhenUsed("openinference.instrumentation.haystack", "HaystackInstrumentor")
pipeline = WhenUsed("tests.frameworks.haystack_parts", "pipeline")


@pytest.mark.parametrize("kind", ["text", "chat"])
def test_pipeline(kind: str) -> None:
    """The pipeline's span is scored: its input is keyed by component, its answer is among the replies."""
    with running() as run:
        run.under(HaystackInstrumentor())
        pipeline(kind).run({"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}})
        trace = run.read_one()
        assert told(trace) == ("openinference", QUESTION, [TEXTS["d1"]], ANSWER, None)
        assert trace.chunks[0].id == "d1"
        assert trace.chunks[0].score is not None
        assert run.statuses() == {"Pipeline.run": ("evaluated", None, 1.0)}
