"""The command of `warm_python`: has its program forked by the server, and stands for it until it ends.

Arguments: the real interpreter, the server's folder, then what Python is to be given. It runs without `site`, so that
it starts in some 10 ms. What the server cannot do is done by the real interpreter: options, inherited descriptors,
other settings of Python itself, measuring coverage.
"""

import marshal
import os
import select
import signal
import socket
import sys

_SETTINGS = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
_PASSED_ON = (
    *(signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT),
    signal.SIGRTMIN,  # stands for SIGKILL
)


def main():
    interpreter, folder, *arguments = sys.argv[1:]
    if not _can_be_forked(arguments):
        os.execv(interpreter, [interpreter, *arguments])
    server = socket.socket(socket.AF_UNIX)
    server.connect(os.path.join(folder, "socket"))
    # Written to in the moment of a signal: one that came just before `recv` began would else wait for its end.
    signals, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(told)
    for number in _PASSED_ON:
        signal.signal(number, lambda *_: None)
    umask = os.umask(0)
    os.umask(umask)
    wanted = marshal.dumps((arguments, dict(os.environ), umask))
    here = os.open(".", os.O_RDONLY)
    socket.send_fds(server, [len(wanted).to_bytes(8, "little")], [0, 1, 2, here])
    server.sendall(wanted)
    while server not in select.select([server, signals], [], [])[0]:
        try:
            server.send(os.read(signals, 64))
        except BrokenPipeError:
            break  # it has just ended, and said how
    status = int.from_bytes(server.recv(4) or b"\x01", "little", signed=True)
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _can_be_forked(arguments):
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-c", "-m")):
        return False
    if any(name.startswith("PYTHON") and name not in _SETTINGS for name in os.environ):
        return False
    if "COVERAGE_PROCESS_START" in os.environ:
        return False
    descriptors = {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2}
    return all(not os.path.exists(f"/proc/self/fd/{number}") for number in descriptors)


main()
