"""Writes `docs/settings.md` from the table of settings: `python docs/settings_table.py`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rag_otel.settings import Settings

HEAD = """# Settings

Arguments of `instrument()`, rows of `rag_otel.settings.Settings`. An argument wins over the environment, that over the
default; `rag-otel doctor` prints where each value came from. Where an argument has several variables, the
first that is set counts. A secret may stand in a file: named by the variable with `_FILE` behind, or by a value
`file:/run/secrets/name`.

| argument | environment | default | meaning |
|---|---|---|---|
"""


def page() -> str:
    """The whole page as Markdown."""
    rows = []
    for row in dataclasses.fields(Settings):
        names = ", ".join(f"`{name}`" for name in row.metadata["env"])
        names += " or `_FILE`" if row.metadata["secret"] else ""
        default = ", ".join(row.default) if isinstance(row.default, tuple) else row.default
        rows.append(
            f"| `{row.name}` | {names} | {'' if default is None else f'`{default}`'} | {row.metadata['meaning']} |"
        )
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("settings.md").write_text(page(), encoding="utf-8")
