"""The embedded judge: verdicts from word overlap with the evidence, learned from human labels, in pure Python.

terms -> passages (a chunk, read once) -> evidence (index of a trace's chunks) -> alignment (claim against index)
      -> features, conflicts -> coefficients (probabilities) -> verdicts -> judge;  train writes the coefficients
"""

from __future__ import annotations

from rag_otel_evaluators.judges.embedded.coefficients import Coefficients
from rag_otel_evaluators.judges.embedded.judge import EmbeddedJudge
from rag_otel_evaluators.judges.embedded.training.out_of_fold import OutOfFold

__all__ = ["Coefficients", "EmbeddedJudge", "OutOfFold"]
