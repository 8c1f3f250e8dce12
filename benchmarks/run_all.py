"""Every figure of the README, one script after the other: `make bench`, and what takes long: `make bench-long`.

Each script prints its own figures as ratios or rates measured in one run, and takes `--help`. A script that fails does
not stop the others; the exit code says whether one did. How long each took is printed after it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
LONG = {"collector_resilience.py": ["--long"]}
"""What `make bench-long` runs, and with which arguments: ten minutes of load, 100,000 damaged requests."""


def main() -> int:
    """Run every other script of this folder; 1 when one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="only what takes long, at full size")
    long = parser.parse_args().long
    failed = []
    for script in sorted(HERE.glob("*.py")):
        if script.name == Path(__file__).name or script.name.startswith("_") or (long and script.name not in LONG):
            continue
        started = time.monotonic()
        print(f"\n=== {script.name} " + "=" * (90 - len(script.name)), flush=True)
        if subprocess.run([sys.executable, str(script), *(LONG[script.name] if long else [])], check=False).returncode:
            failed.append(script.name)
        print(f"({script.name} took {time.monotonic() - started:.0f} s)", flush=True)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
