"""Where the two frozen sets are: packed, in the package that users install. Standard library only."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "evaluators" / "rag_otel_evaluators" / "contrast"


def load(name: str) -> list[dict[str, Any]]:
    """The rows of `contrast_test` or `abstention_test`."""
    text = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def pack(name: str, rows: list[dict[str, Any]]) -> bytes:
    """Write the rows, the same bytes every time; returns what was packed."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text, compresslevel=9, mtime=0))
    return text
