"""Runs every benchmark of this folder in turn: `python -m benchmarks [--base DIR]`, in the repository's root.

Each is a module with a command line of its own (`python -m benchmarks.question --help`), run as a process of its own,
so that none finds the caches of another warm. Those that read data take `--base`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--base", help="data directory in CRAG's layout; the bundled sample if not given")
    base = parser.parse_args(argv).base
    failed = []
    for name in sorted(p.stem for p in Path(__file__).parent.glob("[a-z]*.py")):
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        if base and takes_base(command):
            command += ["--base", base]
        print(f"== {name}", flush=True)
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
        print()
    if failed:
        print(f"Failed: {', '.join(failed)}.", file=sys.stderr)
    return int(bool(failed))


def takes_base(command: Sequence[str]) -> bool:
    return "--base" in subprocess.run([*command, "--help"], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    sys.exit(main())
