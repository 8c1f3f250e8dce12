"""Writes `docs/settings.md` from the table of settings: `python docs/settings_table.py`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rag_otel.settings import Settings
from rag_otel.settings.groups import GROUPS
from rag_otel.settings.rows import SettingRow, rows_of

HEAD = """# Settings

    rag_otel.instrument(
        phoenix_endpoint="http://localhost:6006",
        judge=rag_otel.JudgeSettings(model="openai/gpt-4o-mini", concurrency=4),
        evaluations_per_minute=60,
        alerts=rag_otel.AlertSettings(slack_url="file:/run/secrets/slack", slo_target=0.95),
    )

What belongs together stands in a group: `judge=`, `spans=`, `alerts=`, `drift=` and `telemetry=`. A plain value does
where one is enough: `judge="openai/gpt-4o-mini"`, `drift=False`.

An argument wins over the environment, that over a file, that over the default; `rag-otel doctor` prints where each
value came from. Where a setting has several variables, the first that is set counts. A secret may stand in a file:
named by the variable with `_FILE` behind, or by a value `file:/run/secrets/name`. A `RAG_OTEL_*` variable that no
setting reads is named in the log at start-up.

In a file (`rag-otel collect --config`) and with `--set` a setting has the name of its variable in lower case, without
`RAG_OTEL_`; the groups may stand there too (`[evaluation.alerts]`, `slo_target = 0.95`).
"""
COLUMNS = "| {first} | environment | default | meaning |\n|---|---|---|---|\n"


def page() -> str:
    """The whole page as Markdown."""
    rows = rows_of(Settings).values()
    parts = [HEAD, _section("Arguments", "argument", (row for row in rows if len(row.path) == 1 and row.argument))]
    for argument, group in GROUPS.items():
        of_group = rows_of(group).values()
        parts.append(_section(f"`{argument}={group.__name__}(...)`", "field", of_group))
    rest = (row for row in rows if not row.argument)
    parts.append(_section("In the environment and in files alone", "name", rest))
    return "\n".join(parts)


def _section(title: str, first: str, rows: Iterable[SettingRow]) -> str:
    return f"## {title}\n\n{COLUMNS.format(first=first)}" + "".join(map(_line, rows))


def _line(row: SettingRow) -> str:
    names = ", ".join(f"`{name}`" for name in row.env) + (" or `_FILE`" if row.secret else "")
    default = ", ".join(row.default) if isinstance(row.default, tuple) else row.default
    shown = "" if default in (None, "") else f"`{default}`"
    return f"| `{row.path[-1]}` | {names} | {shown} | {row.meaning} |\n"


if __name__ == "__main__":
    Path(__file__).with_name("settings.md").write_text(page(), encoding="utf-8")
