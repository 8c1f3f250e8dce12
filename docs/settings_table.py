"""Writes `docs/settings.md` from the table of settings: `python docs/settings_table.py`."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

from rag_otel.settings.tables import TABLES

import rag_otel
from rag_otel.settings import Settings

HEAD = """# Settings

    rag_otel.instrument(
        phoenix_endpoint="http://localhost:6006",
        judge=rag_otel.JudgeSettings(model="openai/gpt-4o-mini", concurrency=4),
        evaluations_per_minute=60,
        alerts=rag_otel.AlertSettings(slack_url="file:/run/secrets/slack", slo_target=0.95),
    )

What belongs together stands in a table of its own: `judge=`, `alerts=`, `drift=`, `spans=` and `telemetry=`. A plain
value does where one is enough: `judge="openai/gpt-4o-mini"`, `drift=False`.

An argument wins over the environment, that over a file, that over the default; `rag-otel doctor` prints where each
value came from. Where a setting has several variables, the first that is set counts. A secret may stand in a file:
named by the variable with `_FILE` behind, or by a value `file:/run/secrets/name`. A `RAG_OTEL_*` variable that no
setting reads is named in the log at start-up.

In a file (`rag-otel collect --config`) and with `--set` a setting has the name of its variable in lower case, without
`RAG_OTEL_`; the tables may stand there too (`[evaluation.alerts]`, `slo_target = 0.95`).
"""
COLUMNS = "| {first} | environment | default | meaning |\n|---|---|---|---|\n"


def page() -> str:
    """The whole page as Markdown."""
    rows = {row.name: row for row in dataclasses.fields(Settings)}
    parts = [HEAD]
    in_tables = {table.row_of(field) for table in TABLES.values() for field in table.fields()}
    arguments = [name for name in inspect.signature(rag_otel.instrument).parameters if name in rows]
    alone = [name for name in arguments if name not in in_tables or name in TABLES]
    parts.append(_section("Arguments", "argument", [(name, rows[name]) for name in alone]))
    for argument, table in TABLES.items():
        fields = [(field, rows[table.row_of(field)]) for field in table.fields()]
        parts.append(_section(f"`{argument}={table.__name__}(...)`", "field", fields))
    rest = [name for name in rows if name not in in_tables and name not in arguments]
    parts.append(_section("In the environment and in files alone", "name", [(name, rows[name]) for name in rest]))
    return "\n".join(parts)


def _section(title: str, first: str, rows: list[tuple[str, dataclasses.Field[object]]]) -> str:
    return f"## {title}\n\n{COLUMNS.format(first=first)}" + "".join(_line(name, row) for name, row in rows)


def _line(name: str, row: dataclasses.Field[object]) -> str:
    names = ", ".join(f"`{name}`" for name in row.metadata["env"])
    names += " or `_FILE`" if row.metadata["secret"] else ""
    default = ", ".join(row.default) if isinstance(row.default, tuple) else row.default
    return f"| `{name}` | {names} | {'' if default in (None, '') else f'`{default}`'} | {row.metadata['meaning']} |\n"


if __name__ == "__main__":
    Path(__file__).with_name("settings.md").write_text(page(), encoding="utf-8")
