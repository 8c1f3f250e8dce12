"""Python programs that start in a moment: each is forked from a process that has imported the product already.

`warm_python()` is a path to put where `sys.executable` would stand: `[warm_python(), "-m", "rag_otel.cli.main", ...]`.
Programs of the tests import the product, OpenTelemetry, gRPC and the collector anew each time, which takes up to a
second of CPU, and with litellm five; a fork takes some 30 ms. What is forked is a process of its own with its own exit,
signals, standard streams, environment and folder. It has the product's modules in memory from the start, so tests of
what is imported and when, of memory, and of fork itself take `sys.executable`, and so does everything at full size.

The command is a small client (`warm_client.py`). It hands its arguments, environment, folder and streams to the server,
passes signals on, and ends as the program ends; if it is killed, the program is killed.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import marshal
import multiprocessing.process
import os
import pkgutil
import selectors
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from testkit.size import FULL_SIZE

PROGRAM: Final = "python"
"""The client's name in the server's folder."""
_SOCKET: Final = "socket"
KILL: Final = signal.SIGRTMIN
"""Told to the client, it kills the program as `kill -9` does. The client cannot pass that on."""
_PACKAGES: Final = ("rag_otel", "rag_otel_collectors", "rag_otel_evaluators")
_LEFT_OUT: Final = (
    "rag_otel_evaluators.judges.hhem",
    "rag_otel_evaluators.judges.litellm",
    "rag_otel_evaluators.judges.llm",
    "rag_otel_evaluators.judges.local",
    "rag_otel_evaluators.pytest_plugin",
    "rag_otel.cli.demo.data",
    "rag_otel.cli.demo.phoenix_child",
)
"""Modules that begin so are imported by who needs them: torch and litellm take several seconds each."""
_OTHERS: Final = ("grpc", "uvicorn", "aiohttp", "opentelemetry.exporter.otlp.proto.http.trace_exporter")


def warm_python(*, with_litellm: bool = False) -> str:
    """The program to start in place of `sys.executable`; litellm is there if it is asked for."""
    if FULL_SIZE or not hasattr(os, "pidfd_open"):
        return sys.executable
    from testkit.shared_servers import servers_are_shared, shared_server

    if not servers_are_shared():
        return sys.executable
    return str(shared_server("warm_python_with_litellm" if with_litellm else "warm_python")["program"])


def kill_9(process: subprocess.Popen[Any]) -> None:
    """`kill -9` of a program that may be forked: of itself, not only of the command that stands for it."""
    process.send_signal(signal.SIGKILL if _forked_in(process) is None else KILL)


def pid_of(process: subprocess.Popen[Any]) -> int:
    """The id of a program that may be forked: not of the command that stands for it."""
    folder = _forked_in(process)
    return process.pid if folder is None else int((folder / str(process.pid)).read_text())


def _forked_in(process: subprocess.Popen[Any]) -> Path | None:
    """The folder of the server that has forked it."""
    arguments = process.args if isinstance(process.args, (list, tuple)) else [process.args]
    folder = Path(str(arguments[0])).parent
    return folder if (folder / _SOCKET).exists() else None


# --- the server --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def warm_python_server(folder: Path, *others: str) -> Iterator[dict[str, Any]]:
    """The server's process, which imports `others` as well; the path of the client that asks it is `program`."""
    client = Path(__file__).with_name("warm_client.py")
    program = folder / PROGRAM
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{client}" "{sys.executable}" "{folder}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_OTEL_", "OTEL_"))}
    paths = os.pathsep.join(filter(None, sys.path))
    # One thread each: what has a thread must not be forked.
    environ |= {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "testkit.warm_python", str(folder), str(program), *others],
            env=environ,
            stdin=subprocess.PIPE,  # its end tells the server that the tests are over
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for pytest
        )
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        assert server.stdout.readline() == b"ready\n", (folder / "server.log").read_text("utf-8")
        yield {"program": str(program)}
    finally:
        server.stdin.close()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def import_everything(others: Sequence[str]) -> None:
    """All modules of the product but those left out, and the large libraries that they import when they are used."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is fetched
    for package in _PACKAGES:
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.startswith(_LEFT_OUT) and not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):
                    importlib.import_module(module.name)
    for name in (*_OTHERS, *others):
        importlib.import_module(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a client asks for."""

    arguments: list[str]
    environ: dict[str, str]
    streams: tuple[int, ...]
    """Standard input, output and error, and the working folder, as descriptors."""
    umask: int


class Server:
    """Forks a process for each client, tells it how the process ended, and passes signals on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen(128)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._selector.register(0, selectors.EVENT_READ, None)

    def serve(self) -> Program | None:
        """Returns in every forked process, with its program; and in the server when the tests are over, with None."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == 0:
                    return None
                if key.fileobj is self._listener:
                    client, _ = self._listener.accept()
                    if (program := self._fork(client)) is not None:
                        return program
                else:
                    key.data()

    def _fork(self, client: socket.socket) -> Program | None:
        try:
            program = _receive(client)
        except (EOFError, OSError):  # it was killed before it had asked
            client.close()
            return None
        asking = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        known_as = self._folder / str(asking)
        if (pid := os.fork()) == 0:
            known_as.write_text(str(os.getpid()))  # before the program writes anything: who reads that may ask for it
            for key in list(self._selector.get_map().values()):
                if isinstance(key.fileobj, socket.socket):
                    key.fileobj.close()  # the object too, which would close the number again when it is forgotten
                elif key.fileobj != 0:
                    os.close(key.fd)
            self._selector.close()
            client.close()
            return program
        for each in program.streams:
            os.close(each)
        ended = os.pidfd_open(pid)
        alive = True

        def tell() -> None:
            nonlocal alive
            alive = False
            _, status = os.waitpid(pid, 0)
            known_as.unlink(missing_ok=True)
            forget()
            with contextlib.suppress(OSError):
                client.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))
            client.close()
            os.close(ended)

        def pass_on() -> None:
            if not alive:  # both events came at once
                return
            try:
                numbers = client.recv(64)
            except OSError:
                numbers = b""
            for number in numbers or bytes((signal.SIGKILL,)):
                os.kill(pid, signal.SIGKILL if number == KILL else number)
            if not numbers:
                self._selector.unregister(client)

        def forget() -> None:
            with contextlib.suppress(KeyError):
                self._selector.unregister(client)
            self._selector.unregister(ended)

        self._selector.register(client, selectors.EVENT_READ, pass_on)
        self._selector.register(ended, selectors.EVENT_READ, tell)
        return None


def _receive(client: socket.socket) -> Program:
    head, streams, _, _ = socket.recv_fds(client, 8, 4)
    if not head:
        raise EOFError
    wanted, parts = int.from_bytes(head, "little"), b""
    while len(parts) < wanted:
        part = client.recv(wanted - len(parts))
        if not part:
            raise EOFError
        parts += part
    arguments, environ, umask = marshal.loads(parts)
    return Program(arguments=arguments, environ=environ, streams=tuple(streams), umask=umask)


# --- a forked process --------------------------------------------------------------------------------------------


def _become(program: Program, executable: str) -> tuple[ModuleType, Any]:
    """Take over streams, folder, environment and arguments; the module `__main__` and its code."""
    for number in range(3):
        os.dup2(program.streams[number], number)
    os.fchdir(program.streams[3])
    for descriptor in program.streams:
        os.close(descriptor)
    os.umask(program.umask)
    multiprocessing.process.ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined] - `spawn` looks for programs there
    os.environ.clear()
    os.environ.update(program.environ)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _text_stream(number)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.executable = executable  # the processes that it starts are forked as well
    first, *others = program.arguments
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    if first == "-c":
        sys.path[0], sys.argv = "", ["-c", *others[1:]]
        code: Any = compile(others[0], "<string>", "exec")
    elif first == "-m":
        sys.path[0], sys.argv = os.getcwd(), ["-m", *others[1:]]
        spec = importlib.util.find_spec(others[0])
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{others[0]}.__main__")
        assert spec is not None, others[0]
        code = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
        main.__spec__, main.__package__, main.__file__ = spec, spec.parent, spec.origin
        sys.argv[0] = spec.origin or "-m"
    else:
        sys.path[0], sys.argv = os.path.dirname(os.path.abspath(first)), [first, *others]
        main.__file__ = first
        code = compile(Path(first).read_bytes(), first, "exec")
    known = set(sys.path)
    sys.path[1:1] = [path for path in program.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in known]
    sys.modules["__main__"] = main
    return main, code


def _text_stream(number: int) -> io.TextIOWrapper:
    """As Python opens it at its start; the standard error is written line by line."""
    raw = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115 - open as long as the process
    errors = "backslashreplace" if number == 2 else "strict"
    by_line = number == 2 or os.isatty(number)
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    return io.TextIOWrapper(raw, "utf-8", errors, line_buffering=by_line, write_through=unbuffered)


def _serve() -> tuple[ModuleType, Any] | None:
    import_everything(sys.argv[3:])
    assert threading.active_count() == 1, threading.enumerate()
    assert len(os.listdir("/proc/self/task")) == 1, "a library has started a thread: its forks would not work"
    gc.collect()
    gc.freeze()  # a collection in a forked process would copy all memory
    server = Server(Path(sys.argv[1]))
    executable = sys.argv[2]
    print("ready", flush=True)
    program = server.serve()
    return None if program is None else _become(program, executable)


def _run(main: ModuleType, code: Any) -> int:
    """The program up to its end, with what a program does at its end: threads, `atexit`, what is written so far.

    Only taking down all modules is left out: it takes ten times as long as the rest of a short program.
    """
    status = _status_of(lambda: exec(code, main.__dict__))
    threading._shutdown()  # type: ignore[attr-defined] - as multiprocessing ends its forked processes
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return status


def _status_of(program: Callable[[], None]) -> int:
    try:
        program()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        return -signal.SIGINT
    except BaseException:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def main() -> None:
    if (found := _serve()) is None:
        return
    status = _run(*found)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status & 0xFF)


if __name__ == "__main__":
    main()
