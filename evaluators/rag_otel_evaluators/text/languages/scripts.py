"""Scripts, as far as they decide how a text is cut into words."""

from __future__ import annotations

import re
from typing import Final

SPACELESS: Final = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")
"""A character of Chinese, Japanese or Korean: scripts whose words no white space separates."""
