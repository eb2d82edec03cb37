"""`multibody sweep`: run the study of a script, or look at one that is running."""

import importlib.util
import logging
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from multibody.cli._messages import print_note
from multibody.cli._options import writable
from multibody.cli._tables import number, show, table, terminal
from multibody.errors import InputError
from multibody.sweep import Study, SweepWarning
from multibody.sweep import open as open_study
from multibody.sweep.identity import SCRIPT_PREFIX
from multibody.sweep.progress import duration

MAX_LISTED_FAILURES = 10
"""Failures that are listed."""
STATUS = "status"
INTERRUPTED = 130
"""The exit status of a command that Ctrl-C has ended, as shells have it."""


def sweep(
    what: Annotated[str, typer.Argument(help="A script, study.py, that makes a Study; or status.")],
    store: Annotated[Path | None, typer.Argument(help="With status, the store of the study.")] = None,
    executor: Annotated[
        str | None, typer.Option(help="processes, or the address of a Dask scheduler, tcp://...; by default here.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on where the study was; or refuse when a part is done.")] = True,
    limit: Annotated[
        float | None, typer.Option(help="In s, for a call of the function, with processes and on Dask.")
    ] = None,
    memory: Annotated[
        float | None, typer.Option(help="In GB, with processes, for each of them beyond its start; on Linux.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="With processes, how many.")] = None,
    only_failed: Annotated[bool, typer.Option("--only-failed", help="Try those again that failed.")] = False,
    mixed: Annotated[bool, typer.Option("--mixed", help="Allow processors of several classes.")] = False,
    study: Annotated[str | None, typer.Option(help="The name of the study, where the script makes several.")] = None,
    log: Annotated[bool, typer.Option("--log", help="A line for each chunk.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Where to save histograms of the results, .png, .svg, .pdf.")
    ] = None,
) -> None:
    """Run the study of a script: it goes on where it was. Or, with `status gains.zarr`, tell how far one is.

    The script is executed, and may import what lies beside it.
    """
    writable("--plot", plot)
    if what == STATUS:
        if store is None:
            raise InputError("status: expected a store, such as multibody sweep status gains.zarr")
        known = open_study(store)
    else:
        if store is not None:
            raise InputError(f"expected one script, got {str(store)!r} behind it; the script says where its store is")
        if log:
            logging.basicConfig(format="%(message)s")
            logging.getLogger("multibody.sweep").setLevel(logging.INFO)
        known = _study(Path(what), study)
        only = "failed" if only_failed else None
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", SweepWarning)
            try:
                size = None if memory is None else round(1e9 * memory)
                known.run(executor, resume, None, limit, only=only, memory=size, workers=workers, mixed=mixed)
            except KeyboardInterrupt:
                typer.echo(f"Interrupted; {known.status()}. The same command goes on.", err=True)
                raise typer.Exit(INTERRUPTED) from None
        for note in noted:
            print_note(str(note.message))
    _show_status(known)
    if plot is not None:
        known.histogram(path=plot)
        typer.echo(f"Saved {plot}.")


def _study(script: Path, name: str | None) -> Study:
    """The study that a script makes."""
    if not script.is_file():
        raise InputError(f"expected a script that makes a Study, or status, got {str(script)!r}")
    # behind Python's own modules, for a script or a neighbour of it that is called json.py, and before installed ones
    installed = [k for k, place in enumerate(sys.path) if place.endswith(("site-packages", "dist-packages"))]
    sys.path.insert(installed[0] if installed else len(sys.path), str(script.parent.absolute()))
    spec = importlib.util.spec_from_file_location(SCRIPT_PREFIX + script.stem, script)
    if spec is None or spec.loader is None:
        raise InputError(f"{script}: expected a script in Python, such as study.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # whose functions travel by value
    spec.loader.exec_module(module)
    made = {key: value for key, value in vars(module).items() if isinstance(value, Study)}
    if name is not None:
        made = {key: value for key, value in made.items() if key == name}
    if len(made) != 1:
        named = f"of the name {name!r}" if name is not None else "as a global variable; --study names one of several"
        raise InputError(f"{script}: expected one Study {named}, got {', '.join(made) or 'none'}")
    return next(iter(made.values()))


def _show_status(study: Study) -> None:
    """Print a table of what is done, and the first failures."""
    status = study.status()
    console = terminal()
    rows = table("", study.path.name, numbers=1)
    rows.add_row("samples", str(status.samples))
    rows.add_row("done", f"{status.done} ({number(100 * status.done / status.samples)} %)")
    rows.add_row("failed", str(status.failed))
    rows.add_row("chunks done", f"{status.chunks_done} of {status.chunks}")
    rows.add_row("time of computing", duration(status.seconds))
    rows.add_row("running now", "yes" if status.running else "no")
    show(console, rows)
    if status.failed:
        listed = table("failed", "why")
        for failure in study.failures()[:MAX_LISTED_FAILURES]:
            listed.add_row(str(failure.index), f"{failure.kind}: {failure.error}")
        more = status.failed - MAX_LISTED_FAILURES
        show(console, listed, caption=f"and {more} more" if more > 0 else "")
