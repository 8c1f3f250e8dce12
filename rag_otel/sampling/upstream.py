"""What samplers before us left out: the rejection threshold `ot=th:...` in a span's tracestate.

Source: OpenTelemetry specification, "TraceState: Probability Sampling", section "Rejection threshold". A sampler with
probability p rejects the share 1 - p of the 2^56 values of randomness; the threshold is written in up to 14 hex digits
without trailing zeros.
"""

from __future__ import annotations

import string
from typing import Final

_VENDOR: Final = "ot"
_KEY: Final = "th:"
_DIGITS: Final = 14
_VALUES: Final = 1 << 56
LOWEST: Final = 1e-4
"""A lower probability counts as this one: whoever calls the application may write the header, and one trace must not
outweigh all others."""
_HEX: Final = frozenset(string.hexdigits.lower())


def upstream_probability(trace_state: str) -> float:
    """The probability in (0, 1] with which a span with this tracestate was kept. 1 without a threshold that is valid:
    the specification treats such a span as one of unknown, and thus of no adjusted count."""
    if _KEY not in trace_state:
        return 1.0
    for member in trace_state.split(","):
        vendor, _, value = member.strip().partition("=")
        if vendor != _VENDOR:
            continue
        for field in value.split(";"):
            digits = field.removeprefix(_KEY)
            if field.startswith(_KEY) and 0 < len(digits) <= _DIGITS and _HEX.issuperset(digits):
                return max(LOWEST, (_VALUES - int(digits.ljust(_DIGITS, "0"), 16)) / _VALUES)
    return 1.0
