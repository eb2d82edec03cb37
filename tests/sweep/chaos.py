"""The study that a cluster is tortured with, as a user's script: chaos.py STORE JOURNAL CHUNKS SECONDS [ADDRESS].

Each call of the function notes, in a file of its process, which samples it begins and which it has ended.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

from multibody import sweep

CHUNK = 5


def noted(journal: Path, seconds: float):
    def f(sample, rng):
        index = sample["i"]
        told = f"{index[0]} {len(index)}\n"
        file = os.open(journal / str(os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(file, b"begin " + told.encode())
        time.sleep(seconds * len(index) / CHUNK)
        x = rng.normal(3)
        os.write(file, b"end " + told.encode())
        os.close(file)
        return {"y": np.sin(index) + x[:, 0] / 3, "z": x, "n": index % 7}

    return f


def study(store: Path, journal: Path, chunks: int, seconds: float) -> sweep.Study:
    samples = sweep.indexed(chunks * CHUNK - 2, lambda index: {"i": index})
    return sweep.Study(noted(journal, seconds), samples, store, chunk=CHUNK, seed=7)


def evaluated(journal: Path) -> tuple[int, int]:
    """Samples whose evaluation was begun, and ended."""
    counts = {"begin": 0, "end": 0}
    for file in journal.iterdir():
        for line in file.read_text().splitlines():
            word, _, count = line.split()
            counts[word] += int(count)
    return counts["begin"], counts["end"]


if __name__ == "__main__":
    place, journal, chunks, seconds, *address = sys.argv[1:]
    try:
        study(Path(place), Path(journal), int(chunks), float(seconds)).run(address[0] if address else None)
    except sweep.StoreError as error:
        print(error, file=sys.stderr)
        sys.exit(28 if "disk is full" in str(error) else 1)
