"""The entry of a kernel: tile after tile, it loads rows, calls all segments, and stores rows.

    void kernel(T **in, int64 *strides, int64 **offsets, T **out, int64 n)

Sample s of argument k begins at in[k] + s strides[k] bytes, or at in[k] + offsets[k][s] if that table is given. Sample
s of result m begins at out[m] + s times its size. The entry of a scan takes four more: the number of steps, the steps
until the first output and between outputs, and the outputs per row. The word before in[0] is the address of a flag,
which is not zero if an interruptible kernel has to stop. The word after the last of `out` is zero; a kernel that cannot
allocate its buffer stores the bytes there and returns.
"""

from typing import NamedTuple

from multibody.compiler.codegen import load_inputs, loops, prefetch, store_outputs, transpose
from multibody.compiler.codegen.builder import Builder
from multibody.compiler.ir.program import InputRun, Program
from multibody.compiler.ir.tiling import Tiling

_SCAN_PARAMETERS = ", i64 %steps, i64 %first, i64 %every, i64 %total"
MAX_STACK_BYTES = 256 * 1024
"""Bytes of a buffer on the stack; a larger one comes from malloc."""


class ScanEntry(NamedTuple):
    """The layout of a scan: the first results are the state, which stays in the buffer."""

    states: int
    """The number of results that are the state."""
    first_slots: list[int]
    """The first slot of each."""
    per_step: dict[int, int]
    """Arguments that change from step to step, with their elements per step."""
    finished: int | None = None
    """The slot that is not zero in finished samples, if samples can finish."""


def functions(
    program: Program, tiling: Tiling, sizes_out: list[int], scan: ScanEntry | None, fetch: prefetch.PrefetchPlan
) -> str:
    """The functions with which the entry loads and stores rows."""
    return "\n".join(
        [
            transpose.functions(tiling, {run.length for run in program.input_runs} | loops.lengths(program.steps)),
            loops.functions(program, tiling, stops=scan is not None and scan.finished is not None),
            load_inputs.function(program, tiling),
            store_outputs.functions(tiling, _result_rows(program, sizes_out, scan), prefetched=bool(fetch.results)),
        ]
    )


def entry(
    program: Program,
    tiling: Tiling,
    sizes_out: list[int],
    scan: ScanEntry | None,
    name: str,
    fetch: prefetch.PrefetchPlan,
    *,
    direct: bool,
) -> str:
    """The entry; a scan repeats the segments over time.

    With `direct` there is a function of that name for whole vectors at regular strides; tiles do the remainder.
    """
    b, lanes = Builder(tiling), tiling.lanes
    buffer = _allocate(b, program, sizes_out, fetch)
    used = sorted({argument for argument, _, _ in program.inputs} | loops.arguments(program.steps))
    for k in used:
        for word, table, kind in (("in", "%in", "ptr"), ("st", "%strides", "i64"), ("of", "%offsets", "ptr")):
            b.let(f"load {kind}, ptr {b.gep(table, k, 'i64')}, align 8", f"%{word}{k}")
    for m in range(len(sizes_out)):
        b.let(f"load ptr, ptr {b.gep('%out', m, 'ptr')}, align 8", f"%out{m}")
    begin = _run_direct(b, used, len(sizes_out)) if direct else b.add(0, 0)
    before = b.block
    b.branch(b.let(f"icmp slt i64 {begin}, %n"), "tiles", "done")
    b.begin("tiles")
    b.emit(f"%t = phi i64 [ {begin}, %{before} ], [ %t.next, %next ]")
    b.let("sub i64 %n, %t", "%left")
    b.let(f"icmp ugt i64 %left, {tiling.tile * lanes}", "%whole")
    samples = b.let(f"select i1 %whole, i64 {tiling.tile * lanes}, i64 %left")
    b.let(f"udiv i64 {b.add(samples, lanes - 1)}, {lanes}", "%count")
    per_step = scan.per_step if scan else {}
    for run in program.input_runs:
        if run.argument not in per_step:
            _load(b, run, buffer, "")
    writer = loops.LoopWriter(b, buffer, name, set(per_step), interruptible=program.interruptible)
    results = _result_rows(program, sizes_out, scan)
    if scan is None:
        load_inputs.fill_table(b, program)
        prefetch.fill_table(b, fetch, buffer)
        writer.steps(program.steps)
        b.enter("next")
    else:
        _run_scan(b, program, sizes_out, scan, buffer, writer, results)
    for m, row in enumerate(results[: scan.states] if scan else results):
        store_outputs.store(b, m, row, buffer, sizes_out[m] * tiling.size, f"%out{m}")
    b.let(f"add i64 %t, {tiling.tile * lanes}", "%t.next")
    b.branch(b.let("icmp ult i64 %t.next, %n"), "tiles", "done")
    b.begin("done")
    if buffer != "%buffer":
        b.emit("call void @free(ptr %buffer)")
    parameters = f"ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %n{_SCAN_PARAMETERS if scan else ''}"
    return b.function(f"void @{name}({parameters})", "")


def _allocate(b: Builder, program: Program, sizes_out: list[int], fetch: prefetch.PrefetchPlan) -> str:
    """Allocate the buffer, a scratch row for lanes beyond the last sample, and tables; return the buffer's address."""
    slots = b.tiling.tile * b.tiling.stride
    size = slots + b.tiling.tile * load_inputs.vector_bytes(program, b.tiling)
    scratch = max(sizes_out, default=0) * b.tiling.size + 64
    heap = size + scratch > MAX_STACK_BYTES
    b.let(f"call ptr @malloc(i64 {size + scratch + 64})" if heap else f"alloca [{size} x i8], align 64", "%buffer")
    b.let(f"getelementptr i8, ptr %buffer, i64 {size + 64}" if heap else f"alloca [{scratch} x i8]", "%scratch")
    prefetch.allocate_table(b, fetch)
    loops.allocate_counters(b, program)
    b.let("sub i64 %n, 1", "%last")
    buffer = "%buffer"
    if heap:
        above = b.add(b.let("ptrtoint ptr %buffer to i64"), 63)
        buffer = b.let(f"inttoptr i64 {b.let(f'and i64 {above}, -64')} to ptr")
    b.let(f"getelementptr i8, ptr {buffer}, i64 {slots}", "%addresses")
    if heap:
        b.branch(b.let("icmp eq ptr %buffer, null"), "out_of_memory", "allocated")
        b.begin("out_of_memory")
        b.store(str(size + scratch + 64), b.gep("%out", len(sizes_out), "i64"), "i64")
        b.emit("ret void")
        b.begin("allocated")
    return buffer


def _run_direct(b: Builder, used: list[int], results: int) -> str:
    """Run whole vectors straight from rows to rows if no argument has a table of offsets; return the next sample."""
    arguments = [f"ptr %in{k}, i64 %st{k}" for k in used] + [f"ptr %out{m}" for m in range(results)]
    before, regular = b.block, b.let("add i1 0, 1")
    for k in used:
        regular = b.let(f"and i1 {regular}, {b.let(f'icmp eq ptr %of{k}, null')}")
    vectors = b.let(f"sdiv i64 %n, {b.tiling.lanes}")
    some = b.let(f"icmp sgt i64 {vectors}, 0")
    b.branch(b.let(f"and i1 {regular}, {some}"), "start", "started")
    b.begin("start")
    b.emit(f"call void @direct(i64 {vectors}, {', '.join(arguments)})")
    reached = b.mul(vectors, b.tiling.lanes)
    b.enter("started")
    return b.phi("i64", (0, before), (reached, "start"))


def _run_scan(
    b: Builder,
    program: Program,
    sizes_out: list[int],
    scan: ScanEntry,
    buffer: str,
    writer: loops.LoopWriter,
    results: list[store_outputs.Row],
) -> None:
    """All steps of a tile: load per-step inputs, run the segments, and periodically store outputs."""
    size = b.tiling.size
    b.enter("step")
    b.emit("%now = phi i64 [ 0, %tiles ], [ %later, %stepped ]")
    b.emit("%wait = phi i64 [ %first, %tiles ], [ %waiting, %stepped ]")
    b.emit("%stored = phi i64 [ 0, %tiles ], [ %storing, %stepped ]")
    if scan.finished is not None:
        at = b.gep(buffer, scan.finished * b.tiling.bytes)
        b.branch(b.let(f"call i1 @finished(ptr {at}, i64 %count)"), "next", "go")
        b.begin("go")
    used = {argument for argument, _, _ in program.inputs} | loops.arguments(program.steps)
    for k in sorted(scan.per_step.keys() & used):
        ahead = b.mul("%now", scan.per_step[k] * size)
        b.let(f"getelementptr i8, ptr %in{k}, i64 {ahead}", f"%in{k}.now")
    for run in program.input_runs:
        if run.argument in scan.per_step:
            _load(b, run, buffer, ".now")
    writer.steps(program.steps)
    sooner = b.let("sub i64 %wait, 1")
    b.branch(b.let(f"icmp eq i64 {sooner}, 0"), "keep", "pass")
    b.begin("keep")
    for m in range(scan.states, len(sizes_out)):
        at = b.gep(f"%out{m}", b.mul("%stored", sizes_out[m] * size))
        store_outputs.store(b, m, results[m], buffer, b.mul("%total", sizes_out[m] * size), at)
    more = b.add("%stored", 1)
    b.jump("stepped")
    b.begin("pass")
    b.enter("stepped")
    b.emit(f"%waiting = phi i64 [ %every, %keep ], [ {sooner}, %pass ]")
    b.emit(f"%storing = phi i64 [ {more}, %keep ], [ %stored, %pass ]")
    b.let("add i64 %now, 1", "%later")
    b.branch(b.let("icmp ult i64 %later, %steps"), "step", "next")
    b.begin("next")


def _result_rows(program: Program, sizes_out: list[int], scan: ScanEntry | None) -> list[store_outputs.Row]:
    """The rows of all results; the state of a scan is stored from the slots of its arguments."""
    return store_outputs.rows_of(program, sizes_out, scan.first_slots if scan else [])


def _load(b: Builder, run: InputRun, buffer: str, suffix: str) -> None:
    """Load a run of elements of a tile's samples into slots."""
    k, column, slot, length = run
    base = b.gep(f"%in{k}{suffix}", column, b.tiling.scalar, inbounds=True)
    to = b.gep(buffer, slot * b.tiling.bytes, inbounds=True)
    rows = f"i64 %st{k}, ptr %of{k}, i64 %t, i64 %count, i64 %last"
    b.emit(f"call void @{transpose.loader(length)}(ptr {to}, ptr {base}, {rows}, i64 {length})")
