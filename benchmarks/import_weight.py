"""What an application pays for having rag-otel: CPU and memory of the import, and the size of the install.

    python benchmarks/import_weight.py             # import, and after instrument(): CPU seconds, MB, modules
    python benchmarks/import_weight.py --install   # also builds the wheel and weighs a fresh environment

Each figure is measured in processes of their own: user + system time by `getrusage`, so that waiting does not count,
and the kernel's peak RSS (Linux only). The variants take turns; the median is printed, and the lowest, which other
load on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("litellm", "torch", "numpy", "pandas", "grpc", "phoenix", "transformers", "sklearn")
DECORATED = "import rag_otel\n@rag_otel.observe\ndef answer(question): return question\n"
VARIANTS = {
    "python alone": "",
    "opentelemetry sdk + openinference": (
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "from openinference.instrumentation import OITracer, TraceConfig\n"
    ),
    "import rag_otel, one function decorated": DECORATED,
    "after instrument()": DECORATED + "rag_otel.instrument()\n",
    "the same, with a Phoenix named": DECORATED + "rag_otel.instrument(phoenix_endpoint='http://127.0.0.1:9')\n",
}
TO_REACH = {"import rag_otel, one function decorated": (0.30, 40), "after instrument()": (0.40, 50)}
REPORT = rf"""
import json, pathlib, re, resource, sys
peak_kb = int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1])
usage = resource.getrusage(resource.RUSAGE_SELF)
heavy = sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r}))
print(json.dumps([usage.ru_utime + usage.ru_stime, peak_kb / 1024, heavy, len(sys.modules)]))
import os
os._exit(0)
"""


def measure(code: str, python: str = sys.executable) -> tuple[float, float, list[str], int]:
    """(CPU seconds, peak MB, heavy modules, number of modules) of a fresh process that runs `code`."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [python, "-c", code + REPORT],
        capture_output=True,
        text=True,
        check=True,
        cwd=tempfile.gettempdir(),
        env=environ,
    )
    seconds, megabytes, heavy, modules = json.loads(done.stdout.splitlines()[-1])
    return seconds, megabytes, heavy, modules


def imports(rounds: int) -> None:
    measure(VARIANTS["after instrument()"])  # compiles what is not compiled yet
    seen: dict[str, list[tuple[float, float, list[str], int]]] = {name: [] for name in VARIANTS}
    for _ in range(rounds):
        for name, code in VARIANTS.items():
            seen[name].append(measure(code))
    print(f"{'':42}  CPU s median / lowest   RSS MB  modules  heavy")
    for name, results in seen.items():
        seconds = [result[0] for result in results]
        megabytes = statistics.median(result[1] for result in results)
        limit = "   (to reach: {} s, {} MB)".format(*TO_REACH[name]) if name in TO_REACH else ""
        print(
            f"{name:42}  {statistics.median(seconds):6.3f} / {min(seconds):5.3f}       {megabytes:7.1f} "
            f"{results[0][3]:8}  {', '.join(results[0][2]) or 'none'}{limit}"
        )


def install() -> None:
    """Build the wheel, install it into an empty environment, weigh what came with it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", temporary, str(ROOT))
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "env", with_pip=True)
        python = str(folder / "env" / "bin" / "python")
        _run(python, "-m", "pip", "install", "--no-compile", str(wheel))
        _run(python, "-m", "pip", "uninstall", "--yes", "pip", "setuptools")
        (packages,) = (folder / "env" / "lib").glob("python3*/site-packages")
        sizes = {
            each.name: sum(file.stat().st_size for file in each.rglob("*") if file.is_file())
            if each.is_dir()
            else each.stat().st_size
            for each in packages.iterdir()
        }
        print(f"install: {sum(sizes.values()) / 1e6:.1f} MB (to reach: 20), of it:")
        for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:8]:
            print(f"    {size / 1e6:6.2f} MB  {name}")
        seconds, megabytes, heavy, _ = measure(DECORATED, python)
        print(
            f"    imports from the wheel: {seconds:.3f} s CPU, {megabytes:.1f} MB, heavy: {', '.join(heavy) or 'none'}"
        )


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--install", action="store_true", help="also build the wheel and weigh a fresh environment")
    arguments = parser.parse_args()
    imports(arguments.rounds)
    if arguments.install:
        install()


if __name__ == "__main__":
    main()
