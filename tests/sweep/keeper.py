"""Keeps a bare Dask worker alive: keeper.py SCHEDULER HOST PID_FILE. What dies is forked anew, in a few milliseconds.

A worker that is started by the shell imports for seconds, and could not be killed every second.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from distributed import Worker


async def serve(scheduler: str, host: str, folder: Path) -> None:
    async with Worker(
        scheduler, host=host, nthreads=1, name=f"{host}-{os.getpid()}", local_directory=str(folder), dashboard=False
    ) as worker:
        await worker.finished()


if __name__ == "__main__":
    scheduler, host, place = sys.argv[1:]
    while True:
        pid = os.fork()
        if not pid:
            asyncio.run(serve(scheduler, host, Path(place).parent / "dask"))
            os._exit(0)
        Path(place + ".new").write_text(str(pid))
        os.replace(place + ".new", place)
        os.waitpid(pid, 0)
        time.sleep(0.05)
