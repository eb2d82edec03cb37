"""Keeps Dask processes alive: keeper.py SCHEDULER FOLDER HOST ROLE [HOST ROLE ...]. A role is scheduler, worker0, ...

Whatever dies is forked anew, in a few milliseconds: processes that import for seconds could not be killed often. The
file FOLDER/ROLE.pid has the process of each role.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from distributed import Scheduler, Worker

import multibody.sweep.evaluation
import multibody.sweep.executors.dask_worker  # noqa: F401  the imports of workers


def note(folder: Path, role: str, pid: int) -> None:
    new = folder / f"{role}.new"
    new.write_text(str(pid))
    os.replace(new, folder / f"{role}.pid")


async def schedule(address: str, folder: Path) -> None:
    host, port = address.removeprefix("tcp://").split(":")
    async with Scheduler(host=host, port=int(port), dashboard=False) as scheduler:
        note(folder, "scheduler", os.getpid())  # once it listens
        await scheduler.finished()


async def work(address: str, folder: Path, host: str) -> None:
    name = f"{host}-{os.getpid()}"
    options = {"nthreads": 1, "name": name, "local_directory": str(folder / "dask"), "dashboard": False}
    async with Worker(address, host=host, **options) as worker:
        await worker.finished()


def start(address: str, folder: Path, host: str, role: str) -> int:
    pid = os.fork()
    if not pid:
        asyncio.run(schedule(address, folder) if role == "scheduler" else work(address, folder, host))
        os._exit(0)
    if role != "scheduler":
        note(folder, role, pid)
    return pid


def main(address: str, folder: Path, *pairs: str) -> None:
    running = {}
    for host, role in zip(pairs[::2], pairs[1::2], strict=True):
        running[start(address, folder, host, role)] = host, role
        while not (folder / f"{role}.pid").exists():
            time.sleep(0.01)
    while True:
        pid, _ = os.wait()
        time.sleep(0.05)
        host, role = running.pop(pid)
        running[start(address, folder, host, role)] = host, role


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
