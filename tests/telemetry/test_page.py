"""`docs/observability.md` lists every instrument, and its example queries are valid PromQL."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from testkit.programs import program

ROOT = Path(__file__).parents[2]


def _script(expression: str) -> str:
    code = f"import sys; sys.path.insert(0, 'docs'); import observability_table as t; print({expression}, end='')"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_table_is_what_the_code_has() -> None:
    """The page is equal to the output of `docs/observability_table.py`."""
    assert (ROOT / "docs" / "observability.md").read_text(encoding="utf-8") == _script("t.page()")


def test_every_example_is_promql(tmp_path: Path) -> None:
    """promtool accepts each query as a rule."""
    promtool = program("promtool")
    queries = json.loads(_script("__import__('json').dumps(list(t.QUERIES.values()))"))
    rules = [{"record": f"example:{n}", "expr": query} for n, query in enumerate(queries)]
    page = tmp_path / "rules.json"
    page.write_text(json.dumps({"groups": [{"name": "examples", "rules": rules}]}), encoding="utf-8")
    command = [promtool, "check", "rules", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{len(queries)} rules found" in done.stdout
