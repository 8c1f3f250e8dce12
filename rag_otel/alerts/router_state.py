"""The router's state in the state folder: open problems, sent alerts, alerts that wait for the end of quiet hours."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final

from rag_otel.alert import Alert
from rag_otel.alerts.incidents import Incident
from rag_otel.alerts.review import ReviewState
from rag_otel.alerts.throttle import ThrottleState
from rag_otel.delivery.state_folder import StateFolder, read_file, set_aside, write_file
from rag_otel.safety.guard import guarded

VERSION: Final = 2
FILE: Final = "alerts.json"


@dataclasses.dataclass(slots=True)
class RouterState:
    """Everything that the router keeps across restarts."""

    incidents: dict[str, Incident] = dataclasses.field(default_factory=dict)
    throttle: ThrottleState = dataclasses.field(default_factory=ThrottleState)
    record_incidents: dict[str, Incident] = dataclasses.field(default_factory=dict)
    record_throttle: ThrottleState = dataclasses.field(default_factory=ThrottleState)
    """The same of what is only recorded."""
    review: ReviewState = dataclasses.field(default_factory=ReviewState)
    outbox: list[Alert] = dataclasses.field(default_factory=list)
    """Alerts that were to be sent, and may not have reached the channels' queues."""
    saved_at: float = 0.0
    """By the router's steady clock, seconds; 0: not known."""
    read: dict[str, int] = dataclasses.field(default_factory=dict)
    """How far each process's log was read; empty where no processes share the folder."""
    raised: list[str] = dataclasses.field(default_factory=list)
    """Ids of the monitors' latest alerts: one that is raised again after a crash is the same."""
    names: dict[str, str] = dataclasses.field(default_factory=dict)
    """Fingerprint of a monitor -> the fingerprint, with the service, under which its problem was told."""


class RouterStateFile:
    """Loads at the start; saves atomically: before an alert is sent, else within a second."""

    def __init__(self, folder: StateFolder) -> None:
        from pydantic import TypeAdapter  # slow to import, and only needed with a state folder

        self._folder = folder
        self._adapter: Any = TypeAdapter(RouterState)

    def load(self) -> RouterState | None:
        """The state of the last process; None where there is none or it cannot be read."""
        with guarded("alerts.load"):
            path = self._folder.path / FILE
            data = read_file(path)
            if data is None:
                return None
            try:
                stored = json.loads(data)
                if stored["version"] != VERSION:
                    raise ValueError(f"version {stored['version']}, not {VERSION}")
                state: RouterState = self._adapter.validate_python(stored["state"])
            except (ValueError, KeyError, TypeError) as error:
                set_aside(path, f"{type(error).__name__}: {str(error)[:200]}")
            else:
                return state
        return None

    def save(self, state: RouterState) -> bool:
        """False where the disk does not take it."""
        with guarded("alerts.save"):
            stored = json.dumps({"version": VERSION, "state": self._adapter.dump_python(state, mode="json")})
            try:
                path = self._folder.path / FILE
            except OSError:  # this process has left the folder to another one
                return False
            return write_file(path, stored.encode())
        return False
