"""What the tests of the stack share: Debian's binaries where they are, and docker/ in another time scale."""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCKER = Path(__file__).parents[2] / "docker"
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_BEFORE = r"\[|offset |for: |interval: |(?:_wait|_interval|_timeout): "
_DURATION = re.compile(rf"(?P<before>{_BEFORE})(?P<n>\d+)(?P<unit>[smhd])\b")


def shortened(text: str, divisor: int) -> str:
    """A configuration of Prometheus or Alertmanager with every duration divided, one second at least.

    The figures (thresholds, least counts) stay, and so do names and labels that speak of a window.
    """

    def replace(match: re.Match[str]) -> str:
        seconds = max(1, int(match["n"]) * _SECONDS[match["unit"]] // divisor)
        return f"{match['before']}{seconds}s"

    return _DURATION.sub(replace, text)


def beside_python(name: str) -> str:
    """A program that PyPI packages put beside the interpreter."""
    return str(Path(sys.executable).parent / name)
