"""Runs Phoenix's server for as long as whoever started it lives. Run as a script by `phoenix_server`.

Its standard input is a pipe that nobody writes to: it ends when the other side is gone, however it went, and then
the server ends too. Without this a killed demo or test run would leave half a gigabyte of Phoenix behind.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def _follow_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # not stdin.read(): its lock, held by a daemon thread, breaks the interpreter's end
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_follow_parent, daemon=True).start()
    sys.argv = ["phoenix", "serve"]
    from phoenix.server.main import main

    main()
