"""An app that gets alerts when its answers become worse: drift alerts and alerts for single answers, sent to a
function.

    python examples/watching/app.py

It sends the questions of the quickstart app first to one model, then to a weaker one. The answers are recorded. In
production the alerts go to Slack, PagerDuty, Alertmanager or mail (docs/alerts.md), the baseline is learned from 500
answers (docs/drift.md), and `state_folder` stores it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import rag_otel
from rag_otel.alert import Alert

EXAMPLES = Path(__file__).parents[1]
MODELS = ("gpt-4-0613", "llama-2-7b-chat")
sys.path.insert(0, str(EXAMPLES / "quickstart"))


def tell(alert: Alert) -> None:
    """A custom alert channel: prints the alert."""
    print(f"{alert.severity} {alert.state}: {alert.name}: {alert.headline or alert.question}")
    print("\n".join(f"  {name}: {fact}" for name, fact in alert.details.items()))


def main() -> None:
    rag_otel.instrument(
        alerts=rag_otel.AlertSettings(on_alert=tell, rules=("risk>0.8",)),
        evaluations_per_minute=100_000,
        drift=rag_otel.DriftSettings(baseline_count=50, judge_watch=False),
    )
    from app import answer

    records = [json.loads(line) for line in (EXAMPLES / "data/ragtruth_qa_dev.jsonl").read_text("utf-8").splitlines()]
    for model in MODELS:
        for record in records:
            if record["model"] == model:
                answer(record["question"], model)
        rag_otel.flush(timeout=60)
    rag_otel.uninstrument()


if __name__ == "__main__":
    main()
