"""The embedded judge: verdicts from word overlap with the evidence, learned from people's labels, in pure Python.

evidence (chunks, read once and indexed) -> assessment (a claim against the index) -> verdicts (probabilities) -> judge

`text/` cuts answers into claims and reads numbers and conflicts; `benchmarks/training` learns the coefficients.
"""

from __future__ import annotations

from rag_otel_evaluators.judges.embedded.judge import EmbeddedJudge

__all__ = ["EmbeddedJudge"]
