"""How many threads of ours run in an application, whatever it watches and wherever it sends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.http_receiver import http_receiver

APP = """
import json, sys, threading
import rag_otel

phoenix, slack, folder, answers = *sys.argv[1:4], int(sys.argv[4])
most = set()


def look():
    now = [each.name for each in threading.enumerate() if each.name.startswith("rag-otel")]
    most.add(len([name for name in now if name != "rag-otel-imports"]))  # ends with the imports
    return now


@rag_otel.observe
def answer(question):
    look()
    return {"answer": "The moon is made of cheese and 77 dwarfs.", "chunks": ["The moon orbits the earth."]}


alerts = rag_otel.AlertSettings(slack_url=slack, digest=0, precision=1)
rag_otel.instrument(phoenix_endpoint=phoenix, alerts=alerts, state_folder=folder or None)
none_yet = look()
for _ in range(answers):
    answer("What is the moon made of?")
assert rag_otel.flush(evaluate=True, timeout=60)
look()
print(json.dumps({"before": none_yet, "most": max(most), "after": look()}))
"""


@pytest.mark.parametrize("folder", ["", "state"])
def test_an_application_with_phoenix_and_slack_has_at_most_four(folder: str, tmp_path: Path) -> None:
    """The worker that evaluates, the scheduler's two, and one more while a destination is slow. With a state folder
    the scheduler has begun at the start: it looks what an earlier process left."""
    with http_receiver() as phoenix, http_receiver() as slack:
        arguments = [phoenix.url, f"{slack.url}/hook", str(tmp_path / folder) if folder else "", "20"]
        done = subprocess.run([sys.executable, "-c", APP, *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert slack.requests
        assert any(each.path.startswith("/v1/span_annotations") for each in phoenix.requests)
    counted = json.loads(done.stdout.splitlines()[-1])
    looking = {"rag-otel-scheduler"} if folder else set()
    assert set(counted["before"]) <= {"rag-otel-imports"} | looking
    assert counted["most"] <= 4
    assert set(counted["after"]) <= {"rag-otel-worker", "rag-otel-scheduler", "rag-otel-imports"}
