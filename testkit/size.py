"""How large the tests are: small in `make test`, full in `make test-long`.

`make test` finds what a change has broken; the last rare case is looked for before a release. Full size means every
example of a property, simulations as long as their figures need, and each program in a fresh interpreter.
"""

from __future__ import annotations

import os
from typing import Final, TypeVar

T = TypeVar("T")
FULL_SIZE: Final = os.environ.get("FULL_SIZE_TESTS") == "1"
"""Set by `make test-long`."""
EXAMPLES: Final = 25
"""Examples of a property in `make test`."""


def sized(small: T, full: T) -> T:
    """One or the other. The small one must still fail on the defect that the test is for."""
    return full if FULL_SIZE else small


def examples(full: int) -> int:
    """How often hypothesis tries a property that is worth `full` examples."""
    return sized(min(full, EXAMPLES), full)
