"""What an application pays for having rag-otel: CPU and memory of the import, and the size of the install.

    python benchmarks/import_weight.py             # import, and after instrument(): CPU seconds, MB, modules
    python benchmarks/import_weight.py --install   # also builds the wheel and weighs a fresh environment
    python benchmarks/import_weight.py --beside PATH   # by turns with another checkout, and this one twice

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
EVALUATED = (
    "import rag_otel\n@rag_otel.observe\ndef answer(question):\n"
    "    rag_otel.record_chunks(['Paris is the capital of France. It lies on the Seine.'])\n"
    "    return 'Paris is the capital of France.'\n"
    "rag_otel.instrument()\nanswer('What is the capital of France?')\nassert rag_otel.flush()\n"
)
IMPORTED = "from rag_otel.safety.background_import import wait_until_imported\nassert wait_until_imported(60)\n"
VARIANTS = {
    "python alone": "",
    "opentelemetry sdk + openinference": (
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "from openinference.instrumentation import OITracer, TraceConfig\n"
    ),
    "import rag_otel, one function decorated": DECORATED,
    "after instrument()": DECORATED + "rag_otel.instrument()\n",
    "the same, the judge's imports done too": DECORATED + "rag_otel.instrument()\n" + IMPORTED,
    "and one call evaluated": EVALUATED + IMPORTED,
    "after instrument(), with a Phoenix named": DECORATED
    + "rag_otel.instrument(phoenix_endpoint='http://127.0.0.1:9')\n",
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


def measure(
    code: str, python: str = sys.executable, checkout: Path | None = None
) -> tuple[float, float, list[str], int]:
    """(CPU seconds, peak MB, heavy modules, number of modules) of a fresh process that runs `code`; from `checkout`,
    or from what is installed."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if checkout is not None:
        environ["PYTHONPATH"] = os.pathsep.join(str(checkout / part) for part in ("", "collectors", "evaluators"))
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


def beside(other: Path, rounds: int) -> None:
    """The variants of both checkouts by turns, and this one twice: how much the machine alone makes of it."""
    who = {"this": ROOT, "other": other, "this again": ROOT}
    names = [name for name in VARIANTS if "rag_otel" in VARIANTS[name]]
    for checkout in who.values():  # compiles what is not compiled yet
        for name in names:
            measure(VARIANTS[name], checkout=checkout)
    seen: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number in range(rounds):
        for name in names:
            for which in list(who)[:: 1 if number % 2 else -1]:
                seen.setdefault((name, which), []).append(measure(VARIANTS[name], checkout=who[which])[:2])
    print(f"{'':42}  CPU s, this / other       ratio (quartiles)            this twice        MB, this / other")
    for name in names:
        this, others, again = (seen[name, which] for which in who)
        cpu, theirs = (statistics.median(each[0] for each in runs) for runs in (this, others))
        memory, their_memory = (statistics.median(each[1] for each in runs) for runs in (this, others))
        print(
            f"{name:42}  {cpu:5.3f} / {theirs:5.3f}    {_ratios(this, others)}   {_ratios(again, this)}   "
            f"{memory:5.1f} / {their_memory:5.1f} = {memory / their_memory:.2f}"
        )


def _ratios(these: list[tuple[float, float]], those: list[tuple[float, float]]) -> str:
    """Median and quartiles of the ratios of CPU time, round by round."""
    ratios = [this[0] / that[0] for this, that in zip(these, those, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


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
    parser.add_argument("--beside", type=Path, metavar="PATH", help="by turns with the code of another checkout")
    arguments = parser.parse_args()
    if arguments.beside is not None:
        beside(arguments.beside.resolve(), arguments.rounds)
        return
    imports(arguments.rounds)
    if arguments.install:
        install()


if __name__ == "__main__":
    main()
