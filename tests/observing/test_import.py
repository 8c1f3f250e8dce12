"""The modules that `import rag_otel` loads."""

from __future__ import annotations

import json
import subprocess
import sys

import rag_otel
import rag_otel.observing.decorator

DECORATED = "import rag_otel\n@rag_otel.observe\ndef answer(question: str) -> str:\n    return question\n"
REPORT = "import json, sys\nprint(json.dumps(sorted(sys.modules)))\n"
HEAVY = {"litellm", "torch", "numpy", "pandas", "grpc", "phoenix", "transformers", "sklearn", "requests"}
NOT_NEEDED_TO_DECORATE = {"pydantic", "asyncio", "opentelemetry.sdk", "opentelemetry.exporter", "tqdm"}
OTHER_HALVES = {"rag_otel_collectors", "rag_otel_evaluators"}


def _modules_after(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code + REPORT], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_decorating_imports_next_to_nothing() -> None:
    """No judge, no SDK and no pydantic. They are loaded by `instrument()` or by the first call."""
    assert not _modules_after(DECORATED) & (HEAVY | NOT_NEEDED_TO_DECORATE | OTHER_HALVES)


def test_instrumenting_imports_nothing_heavy() -> None:
    """`instrument()` with the embedded judge loads none of the heavy libraries."""
    assert not _modules_after(DECORATED + "rag_otel.instrument()\nanswer('why')\n") & HEAVY


def test_the_name_is_always_the_decorator() -> None:
    """No module has the name of a public function, because importing it would replace the function in the package."""
    assert rag_otel.observe is rag_otel.observing.decorator.observe
    assert not any(f"rag_otel.{name}" in sys.modules for name in rag_otel.__all__)
