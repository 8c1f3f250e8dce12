"""Calls objects back in forked child processes."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable

from rag_otel.safety.guard import guarded


def after_fork_in_child(method: Callable[[], None]) -> None:
    """Call a bound method in every forked child, for as long as its object lives."""
    weak = weakref.WeakMethod(method)

    def call() -> None:
        with guarded("after_fork"):
            if (alive := weak()) is not None:
                alive()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)
