"""Programs that some tests need and PyPI does not have: where one is missing, its tests are skipped and say so."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import pytest

_PACKAGES: Final = {
    "chromium": "chromium fonts-dejavu-core",
    "npm": "nodejs npm",
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "amtool": "prometheus-alertmanager",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "rabbitmq-server": "rabbitmq-server",
    "redis-server": "redis-server",
}
"""Debian's packages, by program."""
_OTHER_NAMES: Final = {"chromium": ("chromium-browser", "google-chrome")}
_MISSING: Final = "missing program: "


def program(name: str) -> str:
    """The path of a program. Without it the test is skipped, or fails in CI, which has to install it."""
    for each in (name, *_OTHER_NAMES.get(name, ())):
        if path := shutil.which(each):
            return path
    if os.environ.get("CI"):
        pytest.fail(f"{name} is missing, and CI must have it: see .ci/run")
    pytest.skip(_MISSING + name)


def missing_programs(skip_reasons: Iterable[str]) -> list[str]:
    """A line for each missing program: how many tests were skipped, and the command that installs it."""
    skipped: defaultdict[str, int] = defaultdict(int)
    for reason in skip_reasons:
        _, found, name = reason.partition(_MISSING)
        if found:
            skipped[name.strip()] += 1
    return [
        f"{count} skipped for want of {name}: sudo apt-get install {_PACKAGES[name]}"
        for name, count in sorted(skipped.items())
    ]
