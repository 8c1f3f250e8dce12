"""Writes the anchors, which detect changes of a judge: `python examples/data/make_anchors.py`.

The anchors are 24 answers of `ragtruth_qa_dev.jsonl` to different questions. Human annotators marked half of them as
hallucinated. The shortest answers are used, so that scoring all of them costs little.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("ragtruth_qa_dev.jsonl")
ANCHORS = Path(__file__).parents[2] / "rag_otel" / "drift" / "anchors.json"
EACH = 12


def anchors() -> list[dict[str, Any]]:
    """The anchors, alternating between faithful and hallucinated answers."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda row: (len(row["response"]) + sum(map(len, row["contexts"])), row["id"]))
    taken: set[str] = set()
    kinds = [_pick(rows, label, taken) for label in (1, 0)]
    return [_anchor(row) for pair in zip(*reversed(kinds), strict=True) for row in pair]


def _pick(rows: list[dict[str, Any]], label: int, taken: set[str]) -> list[dict[str, Any]]:
    picked: list[dict[str, Any]] = []
    for row in rows:
        fits = row["label"] == label and row["source_id"] not in taken and len(row["response"]) >= 120
        if fits and len(picked) < EACH:
            taken.add(row["source_id"])
            picked.append(row)
    return picked


def _anchor(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "question": row["question"],
        "contexts": row["contexts"],
        "response": row["response"],
        "faithful": row["label"] == 0,
    }


if __name__ == "__main__":
    text = json.dumps({"version": 1, "source": "RAGTruth (MIT licence)", "anchors": anchors()}, indent=1)
    ANCHORS.write_text(text + "\n", encoding="utf-8")
