"""Names problems after the services whose answers they are about.

A monitor of all traffic knows no service. Without one in its name, two applications that report to one pager would
share an incident, and the first to recover would resolve it for both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping
from hashlib import sha256
from typing import Final

from rag_otel.alert import Alert

_MAX_SERVICES: Final = 64
_SHOWN: Final = 3
_MAX_KEY: Final = 80
_MAX_NAMED: Final = 1024


class ServiceNames:
    """The services that were seen, and the full fingerprints of open problems. Not thread-safe."""

    def __init__(self, named: Mapping[str, str] | None = None) -> None:
        """`named`: fingerprint of a monitor -> the fingerprint under which its problem was told."""
        self.named: dict[str, str] = dict(named or {})
        self._services: set[str] = set()

    def saw(self, service: str | None) -> None:
        """A result of this service came in."""
        if service and len(self._services) < _MAX_SERVICES:
            self._services.add(service)

    def of(self, alert: Alert, open_problems: Container[str]) -> Alert:
        """The alert with its service, and with that in its fingerprint. An open problem keeps the name it has."""
        if alert.fingerprint in open_problems:
            return self._placed(alert)
        known = self.named.get(alert.fingerprint)
        if known is None or known not in open_problems:
            known = self._full(alert)
            self._remember(alert.fingerprint, known, open_problems)
        return dataclasses.replace(self._placed(alert), fingerprint=known)

    def _placed(self, alert: Alert) -> Alert:
        return alert if alert.service or not self._services else dataclasses.replace(alert, service=self._shown())

    def _full(self, alert: Alert) -> str:
        key = alert.service or "+".join(sorted(self._services))
        if len(key) > _MAX_KEY:
            key = sha256(key.encode("utf-8", "replace")).hexdigest()[:16]
        if not key or alert.fingerprint.startswith(f"{key}/"):
            return alert.fingerprint
        return f"{key}/{alert.fingerprint}"

    def _shown(self) -> str:
        named = sorted(self._services)
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        return ", ".join(named[:_SHOWN]) + more

    def _remember(self, own: str, full: str, open_problems: Container[str]) -> None:
        if len(self.named) >= _MAX_NAMED:
            self.named = {name: told for name, told in self.named.items() if told in open_problems}
        self.named[own] = full
