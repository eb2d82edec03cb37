"""The key of compiled code: all that the code depends on is in it, the sources as they were imported above all."""

import builtins
import io
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import llvmlite
import numpy as np
import pytest

import multibody as mb
from multibody import _sources
from multibody.compiler.cache.key import key
from multibody.compiler.codegen import target

from ..sampling import sampled


def test_keys_tell_machines_versions_and_sources_apart(monkeypatch):
    here, keys = target.host(), [key("x")]
    for change in ({"cpu": "another"}, {"features": "-all"}, {"lanes": 16}, {"fma": not here.fma}, {"triple": "x"}):
        with monkeypatch.context() as patch:
            patch.setattr(target, "host", lambda change=change: here._replace(**change))
            keys.append(key("x"))
    for place, value in (
        ((llvmlite, "__version__"), "0.0"),
        ((np, "__version__"), "0.0"),
        ((mb.config, "level"), 1),
        ((_sources, "digest"), lambda: "other sources"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(*place, value)
            keys.append(key("x"))
    keys += [key("y"), key(("x",)), key("x", [3]), key("x", [3], ["a"]), key("x", [3], ["b"]), key("x", [3, 1])]
    keys += [key("x", [3], ["a"], np.dtype(kind)) for kind in ("float64", "float32")]
    assert len(set(keys)) == len(keys) == 18
    assert key("x") == keys[0]
    assert key("x", [3]) == key("x", ((3,),)) == key("x", [np.int64(3)])


def test_no_source_is_read_at_import(monkeypatch):
    """Their sizes and times are noted, which takes a few milliseconds; their content is for the first key."""

    def refuse(*_args, **_named):
        raise AssertionError("a file was opened")

    with monkeypatch.context() as patch:
        for module in (builtins, io, os):
            patch.setattr(module, "open", refuse)
        files = _sources._metadata()
    names = {os.path.relpath(file[0], _sources._ROOT) for file in files}
    rooms = {"geometry", "tracing", "model", "algorithms", "compiler", "robot"}
    assert {name.partition(os.sep)[0] for name in names if os.sep in name} >= rooms
    assert os.path.join("compiler", "codegen", "vector_math", "coefficients.json") in names
    compiler = os.path.join(_sources._ROOT, "compiler")
    text = {os.path.join(folder, file) for folder, _, files in os.walk(compiler) for file in files}
    assert {file for file in text if not file.endswith((".py", ".pyc"))} <= {file[0] for file in files}
    assert not any(name.startswith(("cli", "derive")) for name in names)


# ---- sources that are replaced under a running process ---------------------------------------------------------------

GEAR = """
GEAR = 2.0
def turn(q):
    return GEAR * q
"""
USE = """
import os, sys
import numpy as np
import multibody as mb
if "early" in sys.argv:
    mb.compile(lambda x: x + 1.0, 1)  # the digest is made before the sources change
if "import" in sys.argv:
    from multibody.algorithms.gear import turn
if "wait" in sys.argv:
    print("imported", flush=True)
    sys.stdin.readline()
from multibody.algorithms.gear import turn
print(mb.compile(lambda q: turn(q), 1, key="gear")(np.ones(1)))
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A copy of the library's sources, with a file that tests replace."""
    copy = tmp_path / "src" / "multibody"
    partly_written = shutil.ignore_patterns("*.pyc.*")  # byte code that another process is writing
    shutil.copytree(Path(mb.__file__).parent, copy, ignore=partly_written)
    (copy / "algorithms" / "gear.py").write_text(GEAR)
    monkeypatch.setenv("PYTHONPATH", str(copy.parent))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # Python itself would take old code for files with old times
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path / "kernels"))
    return copy


def begin(*words):
    return subprocess.Popen(
        [sys.executable, "-c", USE, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def result(process):
    output, _ = process.communicate("\n")
    assert process.returncode == 0
    return output.split("\n")[-2]


@pytest.mark.parametrize("moment", sampled([["import"], ["early", "import"], ["early"], []], every=2))
def test_sources_that_are_replaced_under_a_process(library, moment):
    """The new file has the size and the time of the old one; whichever code the process runs, no other one gets it."""
    gear = library / "algorithms" / "gear.py"
    status = gear.stat()
    running = begin("wait", *moment)
    assert running.stdout.readline() == "imported\n"
    gear.write_text(GEAR.replace("2.0", "7.0"))
    os.utime(gear, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (gear.stat().st_size, gear.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert result(running) == ("[2.]" if "import" in moment else "[7.]")
    assert result(begin()) == "[7.]"
    gear.write_text(GEAR)
    assert result(begin()) == "[2.]"


def test_sources_that_stay_are_shared(library, tmp_path):
    assert result(begin()) == "[2.]"

    def entries():
        return [path for path in (tmp_path / "kernels").iterdir() if path.suffix != ".alias"]

    (entry,) = entries()
    written = entry.stat().st_mtime_ns
    assert result(begin("import")) == "[2.]"
    (library / "cli" / "new.py").write_text("x = 1")
    assert result(begin()) == "[2.]"
    assert [entry.stat().st_mtime_ns for entry in entries()] == [written]
    (library / "room").mkdir()
    (library / "room" / "new.py").write_text("x = 1")
    assert result(begin()) == "[2.]"
    assert len(entries()) == 2


def test_a_process_that_reloads_sources(library):
    """As notebooks do: code of before and after is not mixed up, and stays in the process."""
    code = """
        import importlib, pathlib
        import numpy as np
        import multibody as mb
        from multibody.algorithms import gear
        def made():
            return mb.compile(lambda q: gear.turn(q), 1, key="gear")
        first = made()
        path = pathlib.Path(gear.__file__)
        for factor in ("7.0", "9.0"):
            path.write_text(path.read_text().replace(str(gear.GEAR), factor))
            importlib.reload(gear)
            assert made()(np.ones(1))[0] == float(factor)
        assert first(np.ones(1))[0] == 2.0
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
    assert (library / "algorithms" / "gear.py").read_text() == GEAR.replace("2.0", "9.0")
    assert result(begin()) == "[9.]"


def test_sources_in_an_archive_are_not_shared(library, tmp_path):
    shutil.make_archive(str(tmp_path / "library"), "zip", library.parent)
    shutil.rmtree(library)
    code = "import multibody as mb; assert mb.compile(lambda x: 2 * x, 1, key='k')([1.0])[0] == 2.0"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "library.zip")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert not list((tmp_path / "kernels").iterdir())
