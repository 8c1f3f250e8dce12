"""Settings by the names that files have, as arguments of `instrument()`: for tests that are given some of many."""

from __future__ import annotations

from typing import Any

from rag_otel.settings import Settings
from rag_otel.settings.groups import GROUPS
from rag_otel.settings.rows import rows_of

_PARTS = {
    "on_alert": ("alerts", "on_alert"),
    "alert_channels": ("alerts", "channels"),
    "conventions": ("spans", "conventions"),
    "meter_provider": ("telemetry", "meter_provider"),
    "logger_provider": ("telemetry", "logger_provider"),
}


def grouped(**settings: Any) -> dict[str, Any]:
    """`alert_cooldown=1.0` becomes `alerts=AlertSettings(cooldown=1.0)`; what is no setting stays as it is."""
    rows, arguments, groups = rows_of(Settings), {}, dict[str, dict[str, Any]]()
    for name, value in settings.items():
        path = _PARTS.get(name) or (rows[name].path if name in rows else (name,))
        if isinstance(value, tuple(GROUPS.values())) or len(path) == 1:
            arguments[name] = value
        else:
            groups.setdefault(path[0], {})[path[1]] = value
    return arguments | {name: GROUPS[name](**fields) for name, fields in groups.items()}
