"""Load mutated descriptions for a while: `python -m benchmarks.fuzz_descriptions --minutes 10 --seed 1`.

Each batch runs in a process of its own, so that a crash of a library below is seen and counted like a foreign
exception, a hang, or a word on standard error. What fails is kept with its seed and can be run alone.
"""

from __future__ import annotations

import argparse
import logging
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.mutations import draw, load, sources

BATCH, LONGEST = 400, 300.0


def batch(seed: int, count: int) -> int:
    """Load `count` mutations in this process; says what failed on standard output, and how many loaded."""
    logging.disable(logging.CRITICAL)
    from_file, loaded, failed = sources(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(count):
            rng = random.Random(f"{seed} {k}")
            name, data = draw(from_file, rng)
            print(f"{seed} {k} {name}", file=sys.stderr, flush=True)  # the last one before a crash
            start = time.process_time()
            try:
                loaded += load(Path(folder), name, data) is not None
            except Exception:
                failed += 1
                print(f"FAILED {seed} {k} {name}\n{traceback.format_exc()}", flush=True)
            if time.process_time() - start > 10:
                failed += 1
                print(f"FAILED {seed} {k} {name}: took {time.process_time() - start:.0f} s", flush=True)
    print(f"loaded {loaded} refused {count - loaded - failed} failed {failed}", flush=True)
    return failed


def main() -> int:
    """Batches until the time is up; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", nargs=2, type=int, metavar=("SEED", "COUNT"), help="one batch in this process")
    arguments = parser.parse_args()
    if arguments.batch:
        return batch(*arguments.batch)
    end, seed, totals, crashes = time.monotonic() + 60 * arguments.minutes, arguments.seed, [0, 0, 0], 0
    while time.monotonic() < end:
        command = [sys.executable, "-m", "benchmarks.fuzz_descriptions", "--batch", str(seed), str(BATCH)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
            output, errors, code = done.stdout, done.stderr.splitlines(), done.returncode
        except subprocess.TimeoutExpired as late:
            output, errors, code = "", [(late.stderr or b"").decode()[-200:]], -1
        words = output.splitlines()[-1].split() if output.strip() else []
        if words[:1] == ["loaded"]:
            totals = [total + int(n) for total, n in zip(totals, words[1::2], strict=True)]
        else:
            crashes += 1
            print(f"CRASH code {code} after {errors[-1:]}", flush=True)
        strangers = [line for line in errors if not line.split()[:1] == [str(seed)]]
        if "FAILED" in output or strangers:
            print(output, *strangers[:20], sep="\n", flush=True)
        crashes += bool(strangers)
        seed += 1
    loaded, refused, failed = totals
    print(f"{sum(totals)} mutations: {loaded} loaded, {refused} refused, {failed} failed, {crashes} crashes or noises")
    return 1 if failed or crashes else 0


if __name__ == "__main__":
    sys.exit(main())
