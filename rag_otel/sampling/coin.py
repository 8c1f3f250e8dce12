"""The coin: a number in 0..1 for every trace, the same in every process and at every retry."""

from __future__ import annotations

import hashlib
from typing import Final

_DIGEST_BITS: Final = 64
SIDES: Final = 1 << _DIGEST_BITS
"""How many values the coin has."""


def coin(trace_id: str, key: bytes) -> int:
    """The coin of a trace, in 0 .. `SIDES` - 1, uniform over trace ids. `trace_id` is hex, `key` comes from `coin_key`.

    The hash (BLAKE2b) is independent of the SDK's ratio sampler, which compares the last bits of the trace id. If both
    used those bits, an application with such a sampler would get all or none of its remaining traces evaluated.
    """
    digest = hashlib.blake2b(bytes.fromhex(trace_id), digest_size=_DIGEST_BITS // 8, key=key).digest()
    return int.from_bytes(digest, "big")


def coin_key(seed: int) -> bytes:
    """The key of the coin. Deployments with one seed toss the same coin for a trace."""
    return seed.to_bytes(16, "big", signed=True)


def passes(tossed: int, rate: float) -> bool:
    """True for the share `rate` of all traces. What passes at one rate passes at every higher one."""
    return tossed < round(rate * SIDES)
