"""A Dask cluster of separate processes, on loopback or on hosts of their own, and what can happen to it."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def may_make_hosts() -> bool:
    """Whether network namespaces can be made here."""
    if os.geteuid() or not shutil.which("ip"):
        return False
    name = f"try{os.getpid()}"
    ended = subprocess.run(["ip", "netns", "add", name], capture_output=True)
    if not ended.returncode:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return not ended.returncode


class Disk:
    """A small disk that can be filled: a tmpfs where it may be mounted, else none."""

    def __init__(self, place: Path, size: str) -> None:
        self.place = place
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)]
        self.mounted = os.geteuid() == 0 and not subprocess.run(command, capture_output=True).returncode

    def fill(self) -> None:
        """Until nothing more fits."""
        with open(self.place / "ballast", "wb") as file:
            try:
                while True:
                    os.write(file.fileno(), bytes(4096))
            except OSError:
                return

    def free(self) -> None:
        (self.place / "ballast").unlink()

    def close(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.place)], check=True)


class Cluster:
    """A scheduler and bare workers, which keepers start again when they die: one keeper on loopback, one a host."""

    def __init__(self, folder: Path, workers: int, *, hosts: bool = False) -> None:
        self.folder, self.workers = folder, range(workers)
        self._name = f"mb{os.getpid()}" if hosts else ""
        self._places = [f"{self._name}-{k}" if hosts else "" for k in self.workers]
        if hosts:
            self._make_hosts()
        self.address = f"tcp://10.77.0.1:{free_port()}" if hosts else f"tcp://127.0.0.1:{free_port()}"
        own = [(f"10.77.0.{k + 2}" if hosts else "127.0.0.1", f"worker{k}") for k in self.workers]
        alone = [("", "scheduler")]
        self._keepers = [self._start_keeper(self._name, *alone, *(() if hosts else own))]
        while not self._pid_file("scheduler").exists():  # its keeper imports for seconds
            assert self._keepers[0].poll() is None, (folder / "scheduler.log").read_text()
            time.sleep(0.05)
        if hosts:
            self._keepers += [self._start_keeper(place, pair) for place, pair in zip(self._places, own, strict=True)]

    def worker(self, k: int) -> int | None:
        """The process of a worker, if it has begun to compute."""
        try:
            pid = self._pid(f"worker{k}")
        except FileNotFoundError:
            return None
        return pid if (self.folder / "journal" / str(pid)).exists() else None

    def kill_scheduler(self) -> None:
        """And its keeper starts another one at its address."""
        os.kill(self._pid("scheduler"), signal.SIGKILL)

    def client(self, *arguments: object) -> subprocess.Popen:
        """A process of the user's, where the scheduler is."""
        return self._start(self._name, [sys.executable, "-W", "ignore", *map(str, arguments)], "client")

    def cut(self, k: int) -> None:
        """The network of one worker; without hosts, the worker stands still."""
        if self._name:
            ip(f"-n {self._name} link set w{k} down")
        else:
            os.kill(self._pid(f"worker{k}"), signal.SIGSTOP)

    def join(self, k: int) -> None:
        """End the cut."""
        if self._name:
            ip(f"-n {self._name} link set w{k} up")
        else:
            os.kill(self._pid(f"worker{k}"), signal.SIGCONT)

    def close(self) -> None:
        for keeper in self._keepers:
            keeper.kill()
            keeper.wait()
        for role in ("scheduler", *(f"worker{k}" for k in self.workers)):
            with contextlib.suppress(OSError):
                os.kill(self._pid(role), signal.SIGKILL)
        if self._name:
            for place in (*self._places, self._name):
                ip(f"netns del {place}")

    def _start_keeper(self, place: str, *pairs: tuple[str, str]) -> subprocess.Popen:
        keeper = Path(__file__).with_name("keeper.py")
        words = [word for pair in pairs for word in pair]
        return self._start(place, [sys.executable, str(keeper), self.address, str(self.folder), *words], pairs[0][1])

    def _pid(self, role: str) -> int:
        return int(self._pid_file(role).read_text())

    def _pid_file(self, role: str) -> Path:
        return self.folder / f"{role}.pid"

    def _start(self, place: str, command: list[str], log: str) -> subprocess.Popen:
        inside = ["ip", "netns", "exec", place, *command] if place else command  # ip executes: the pid is the command's
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1"}
        with open(self.folder / f"{log}.log", "ab") as out:
            return subprocess.Popen(inside, stdout=out, stderr=out, env=environment)

    def _make_hosts(self) -> None:
        ip(f"netns add {self._name}")
        ip(f"-n {self._name} link set lo up")
        ip(f"-n {self._name} link add bridge type bridge")
        ip(f"-n {self._name} addr add 10.77.0.1/24 dev bridge")
        ip(f"-n {self._name} link set bridge up")
        for k, place in enumerate(self._places):
            ip(f"netns add {place}")
            ip(f"-n {self._name} link add w{k} type veth peer name eth netns {place}")
            ip(f"-n {self._name} link set w{k} master bridge up")
            ip(f"-n {place} addr add 10.77.0.{k + 2}/24 dev eth")
            ip(f"-n {place} link set eth up")
            ip(f"-n {place} link set lo up")


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, capture_output=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
