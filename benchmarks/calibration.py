"""What a calibration to people's labels is worth, on labels that the fit did not use.

    python benchmarks/calibration.py

Data: examples/data (335 answers to 59 questions, hallucinated spans marked by people), the embedded judge out of fold.
The same risks made wrong on purpose stand for other judges: one overconfident, one that sees risk everywhere, and one
that never dares. Five-fold cross-validation, the answers to one question in one fold; log-loss in nats, lower is
better.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from rag_otel.cli.demo.story import OutOfFoldFaithfulness
from rag_otel.cli.terminal import table
from rag_otel.evaluation.calibration import Labelled, logit, risk_of, sigmoid
from rag_otel_evaluators.calibration.agreement import agreement
from rag_otel_evaluators.calibration.fit import fit, held_out

EXAMPLES = Path(__file__).parents[1] / "examples"
DISTORTIONS = {
    "as it is": (1.0, 0.0),
    "overconfident": (3.0, 0.0),
    "sees risk everywhere": (1.0, 2.0),
    "never dares": (0.3, -1.0),
}
"""Judge -> (slope, intercept) on the logit scale."""


async def labelled() -> list[Labelled]:
    """The risks of the embedded judge, out of fold, and people's labels."""
    faithfulness = OutOfFoldFaithfulness(EXAMPLES)
    found = []
    for line in (EXAMPLES / "data" / "ragtruth_qa_dev.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        result = await faithfulness.evaluate(question=row["question"], chunks=row["contexts"], response=row["response"])
        risk = risk_of(result)
        if risk is not None:
            found.append(Labelled(risk=risk, bad=bool(row["label"]), question=row["question"]))
    return found


def main() -> None:
    rows, answers = [], asyncio.run(labelled())
    for name, (slope, intercept) in DISTORTIONS.items():
        judged = [replace(each, risk=sigmoid(slope * logit(each.risk) + intercept)) for each in answers]
        made = fit(judged, metric="faithfulness", judge=name, threshold=0.5)
        loss, after = held_out(judged), [replace(each, risk=made.risk(each.risk)) for each in judged]
        before, fitted = agreement(judged, threshold=0.5), agreement(after, threshold=0.5)
        rows.append((name, f"{loss.before:.3f}", f"{loss.after:.3f}", str(before.kappa), str(fitted.kappa)))
    print(f"{len(answers)} answers, {sum(each.bad for each in answers)} unfaithful")
    print(table(rows, header=("judge", "log-loss before", "calibrated", "kappa before", "kappa at fit")))


if __name__ == "__main__":
    main()
