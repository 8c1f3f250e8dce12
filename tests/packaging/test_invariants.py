"""docs/invariants.md names, for each promise, a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
ROW: Final = re.compile(r"^\| (?P<promise>.+) \| (?P<guard>.+) \|$")
GUARD: Final = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def _tests(path: Path) -> set[str]:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, functions)}


def test_each_promise_is_guarded_by_a_test() -> None:
    text = (ROOT / "docs" / "invariants.md").read_text(encoding="utf-8")
    rows = [row for line in text.splitlines() if (row := ROW.match(line)) and row["promise"] != "promise"]
    promises = [row for row in rows if not set(row["promise"]) <= set("-| ")]
    assert promises
    wrong = []
    for row in promises:
        guard = GUARD.fullmatch(row["guard"])
        path = None if guard is None else ROOT / guard[1]
        if guard is None or path is None or not path.is_file() or guard[2] not in _tests(path):
            wrong.append(row[0])
    assert not wrong
