"""The embedded judge: verdicts from word overlap with the evidence, learned from people's labels, in pure Python.

passages (a chunk, read once) -> evidence (index of a trace's chunks) -> alignment (claim against index)
      -> assessment (features, conflicts) -> coefficients (probabilities) -> verdicts -> judge

`text/` cuts answers into claims and reads numbers and conflicts; `benchmarks/training` learns the coefficients.
"""

from __future__ import annotations

from rag_otel_evaluators.judges.embedded.coefficients import Coefficients
from rag_otel_evaluators.judges.embedded.judge import EmbeddedJudge
from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold

__all__ = ["Coefficients", "EmbeddedJudge", "OutOfFold"]
