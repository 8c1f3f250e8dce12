"""A process that may start no more threads: a container at its limit, or Python 3.12 and later as it ends."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAM = """
    import resource
    import threading
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    import rag_otel

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    rag_otel.instrument(provider, spans=rag_otel.SpanSettings(hold={hold}))

    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        return {{"answer": "It was built in 1827.", "chunks": ["It was built in 1827."]}}

    # A stack that does not fit into the address space that is left: the system refuses the thread.
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**28, resource.RLIM_INFINITY))
    threading.stack_size(2**30)
    answer("without threads")
    threading.stack_size(0)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    answer("with threads again")
    assert rag_otel.flush(timeout=60)
    for span in exporter.get_finished_spans():
        if "input.value" in span.attributes:
            print(span.attributes["input.value"], span.attributes["rag.evaluation.status"], sep=": ")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set as Linux has it")
@pytest.mark.parametrize(("hold", "second"), [(10, "evaluated"), (0, "late")])
def test_the_span_passes_once_and_later_ones_are_evaluated(hold: int, second: str, tmp_path: Path) -> None:
    """Where no thread can be started the span goes out at once, once, unevaluated; the next one tries again."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM.format(hold=hold))],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["without threads: skipped", f"with threads again: {second}"]
