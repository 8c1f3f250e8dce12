"""How well the embedded judge tells supported claims from the same ones with one thing changed.

    python benchmarks/faithfulness_swaps.py

Claims of examples/data that people did not mark, and each with a number, date, name, negation or opposite swapped by
rule; judged with coefficients that saw neither the question nor its swaps.
"""

from __future__ import annotations

from collections import defaultdict

from faithfulness_quality import DATA, auroc

from rag_otel.cli.terminal import table
from rag_otel_evaluators.judges.embedded import OutOfFold
from rag_otel_evaluators.judges.embedded.coefficients import shortness_of
from rag_otel_evaluators.judges.embedded.training.labelled import load_answers
from rag_otel_evaluators.judges.embedded.verdicts import UNSUPPORTED_FROM, unsupported_probability


def main() -> None:
    folds = OutOfFold.load(DATA / "out_of_fold.json")
    scored: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    contradicted: defaultdict[str, int] = defaultdict(int)
    for answer in load_answers():
        coefficients = folds.judge_for(answer.source_id).coefficients
        shortness = shortness_of(sum(claim.words for claim in answer.claims))
        for swap in answer.perturbed:
            pair = (answer.claims[swap.original], 0), (swap.claim, 1)
            scored[swap.kind] += [
                (unsupported_probability(coefficients, claim, shortness, contradicted=False), label)
                for claim, label in pair
            ]
            contradicted[swap.kind] += swap.claim.conflict is not None
    groups = {
        **{kind: [kind] for kind in scored},
        "all but antonym": [kind for kind in scored if kind != "antonym"],
        "all": list(scored),
    }
    rows = []
    for name, kinds in groups.items():
        pairs = [pair for kind in kinds for pair in scored[kind]]
        swaps = [probability for probability, label in pairs if label]
        flagged = sum(probability >= UNSUPPORTED_FROM for probability in swaps) / len(swaps)
        denied = sum(contradicted[kind] for kind in kinds) / len(swaps)
        rows.append([name, str(len(swaps)), f"{auroc(pairs):.3f}", f"{flagged:.0%}", f"{denied:.0%}"])
    print(table(rows, header=["swapped", "claims", "AUROC", "not supported", "contradicted"]))


if __name__ == "__main__":
    main()
