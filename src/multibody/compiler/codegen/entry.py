"""The text of a kernel's entry: tile after tile, rows in, all segments, rows out.

    void kernel(T **in, int64 *strides, int64 **offsets, T **out, int64 n)

takes rows: sample s of argument k begins at in[k] + s strides[k] bytes, or + offsets[k][s] where that table is given;
sample s of result m begins at out[m] + s times its size. The entry of a scan takes four numbers more: how many steps
to run, after how many of them to keep outputs first and then again, and for how many kept ones there is room in a row.
The word before the first of `in` is the address of a number that is not zero when a kernel that takes long is to stop.
"""

from itertools import groupby
from typing import NamedTuple

from multibody.compiler.codegen import load_inputs, loops, prefetch, store_outputs, transpose
from multibody.compiler.ir.segments import Program
from multibody.compiler.ir.tiling import Shape

_OVER_TIME = ", i64 %steps, i64 %first, i64 %every, i64 %total"
STACK = 256 * 1024
"""Bytes of a buffer that may lie on the stack; a larger one comes from malloc."""


class Scan(NamedTuple):
    """What a scan needs to know: the first results are the state, which stays in the buffer."""

    states: int
    """How many results are the state."""
    places: list[int]
    """The first slot of each."""
    steps: dict[int, int]
    """Arguments that change from step to step, with their elements per step."""
    done: int | None = None
    """The slot that is not zero in samples that are done, where samples can be."""


def rows(program: Program, shape: Shape, sizes_out: list[int], scan: Scan | None, fetch: prefetch.Plan) -> str:
    """The functions that the entry needs to load and to store rows."""
    return "\n".join(
        [
            transpose.functions(shape, {run[3] for run in runs(program)} | loops.lengths(program.steps)),
            loops.functions(program, shape, stops=scan is not None and scan.done is not None),
            load_inputs.function(program, shape),
            store_outputs.functions(shape, _rows_out(program, sizes_out, scan), near=bool(fetch.results)),
        ]
    )


def entry(
    program: Program,
    shape: Shape,
    sizes_out: list[int],
    scan: Scan | None,
    name: str,
    fetch: prefetch.Plan,
    *,
    direct: bool,
) -> str:
    """The kernel: tile after tile, rows in, all segments, rows out; a scan repeats the segments over time.

    With `direct` there is a function of that name for whole vectors at regular strides; what it leaves goes in tiles.
    """
    slots, lanes = shape.tile * shape.row, shape.lanes
    size = slots + load_inputs.size(program, shape)
    bin_size = max(sizes_out, default=0) * shape.size + 64
    heap = size + bin_size > STACK
    buffer = "%slots" if heap else "%buffer"
    used = sorted({argument for argument, _, _ in program.inputs} | loops.arguments(program.steps))
    lines = [
        f"define void @{name}(ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %n{_OVER_TIME if scan else ''}) {{",
        "entry:",
        f"  %buffer = {f'call ptr @malloc(i64 {size + bin_size + 64})' if heap else f'alloca [{size} x i8], align 64'}",
        f"  %bin = {f'getelementptr i8, ptr %buffer, i64 {size + 64}' if heap else f'alloca [{bin_size} x i8]'}",
        prefetch.table(fetch),
        *loops.begin(program),
        "  %last = sub i64 %n, 1",
    ]
    if heap:
        lines += [
            "  %at = ptrtoint ptr %buffer to i64",
            "  %up = add i64 %at, 63",
            "  %aligned = and i64 %up, -64",
            "  %slots = inttoptr i64 %aligned to ptr",
        ]
    lines.append(f"  %addresses = getelementptr i8, ptr {buffer}, i64 {slots}")
    for k in used:
        for word, table, kind in (("in", "%in", "ptr"), ("st", "%strides", "i64"), ("of", "%offsets", "ptr")):
            lines += [f"  %{word}a{k} = getelementptr i64, ptr {table}, i64 {k}",
                      f"  %{word}{k} = load {kind}, ptr %{word}a{k}, align 8"]  # fmt: skip
    for m in range(len(sizes_out)):
        lines += [f"  %outa{m} = getelementptr ptr, ptr %out, i64 {m}", f"  %out{m} = load ptr, ptr %outa{m}, align 8"]
    lines += _begin(used, len(sizes_out), lanes) if direct else ["  %begin = add i64 0, 0"]
    lines += [
        "  %some = icmp slt i64 %begin, %n",
        "  br i1 %some, label %tiles, label %done",
        "tiles:",
        f"  %t = phi i64 [ %begin, %{'started' if direct else 'entry'} ], [ %t1, %next ]",
        "  %left = sub i64 %n, %t",
        f"  %whole = icmp ugt i64 %left, {shape.tile * lanes}",
        f"  %samples = select i1 %whole, i64 {shape.tile * lanes}, i64 %left",
        f"  %round = add i64 %samples, {lanes - 1}",
        f"  %count = udiv i64 %round, {lanes}",
    ]
    loaded = runs(program)
    once = [run for run in loaded if scan is None or run[0] not in scan.steps]
    each = [run for run in loaded if scan is not None and run[0] in scan.steps]
    results = _rows_out(program, sizes_out, scan)
    lines += [line for run in once for line in _load(run, shape, buffer, "")]
    steps = loops.steps(program, shape, buffer, name, set(scan.steps) if scan else set())
    if scan is None:
        lines += load_inputs.tile(program, shape)
        lines += prefetch.tile(fetch, shape, buffer)
        lines += [*steps, "  br label %next", "next:"]
        lines += [
            line
            for m, row in enumerate(results)
            for line in store_outputs.store(m, row, shape, buffer, f"{sizes_out[m] * shape.size}", f"%out{m}")
        ]
    else:
        lines += _over_time(steps, used, shape, sizes_out, scan, buffer, each, results)
    lines += [
        f"  %t1 = add i64 %t, {shape.tile * lanes}",
        "  %again = icmp ult i64 %t1, %n",
        "  br i1 %again, label %tiles, label %done",
        "done:",
        *(["  call void @free(ptr %buffer)"] if heap else []),
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def _begin(used: list[int], results: int, lanes: int) -> list[str]:
    """Whole vectors first, straight from rows to rows, when no argument has a table of offsets."""
    arguments = [f"ptr %in{k}, i64 %st{k}" for k in used] + [f"ptr %out{m}" for m in range(results)]
    lines = ["  %regular0 = add i1 0, 1"]
    for position, k in enumerate(used):
        lines += [
            f"  %free{k} = icmp eq ptr %of{k}, null",
            f"  %regular{position + 1} = and i1 %regular{position}, %free{k}",
        ]
    return [
        *lines,
        f"  %vectors = sdiv i64 %n, {lanes}",
        "  %any = icmp sgt i64 %vectors, 0",
        f"  %fast = and i1 %regular{len(used)}, %any",
        "  br i1 %fast, label %start, label %started",
        "start:",
        f"  call void @direct(i64 %vectors, {', '.join(arguments)})",
        f"  %reached = mul i64 %vectors, {lanes}",
        "  br label %started",
        "started:",
        "  %begin = phi i64 [ 0, %entry ], [ %reached, %start ]",
    ]


def _over_time(
    steps: list[str],
    used: list[int],
    shape: Shape,
    sizes_out: list[int],
    scan: Scan,
    buffer: str,
    each: list[tuple[int, int, int, int]],
    results: list[store_outputs.Row],
) -> list[str]:
    """All steps of a tile: per-step rows in, the segments, and every so often rows out; at the end the state."""
    lines = [
        "  br label %step",
        "step:",
        "  %now = phi i64 [ 0, %tiles ], [ %later, %stepped ]",
        "  %wait = phi i64 [ %first, %tiles ], [ %waiting, %stepped ]",
        "  %kept = phi i64 [ 0, %tiles ], [ %keeping, %stepped ]",
    ]
    if scan.done is not None:
        lines += [
            f"  %done.at = getelementptr i8, ptr {buffer}, i64 {scan.done * shape.bytes}",
            "  %all.done = call i1 @finished(ptr %done.at, i64 %count)",
            "  br i1 %all.done, label %next, label %go",
            "go:",
        ]
    for k in sorted(scan.steps.keys() & set(used)):
        lines += [f"  %ahead{k} = mul i64 %now, {scan.steps[k] * shape.size}",
                  f"  %in{k}.now = getelementptr i8, ptr %in{k}, i64 %ahead{k}"]  # fmt: skip
    lines += [line for run in each for line in _load(run, shape, buffer, ".now")]
    lines += steps
    lines += [
        "  %sooner = sub i64 %wait, 1",
        "  %due = icmp eq i64 %sooner, 0",
        "  br i1 %due, label %keep, label %pass",
        "keep:",
    ]
    for m in range(scan.states, len(sizes_out)):
        row = sizes_out[m] * shape.size
        lines += [
            f"  %row{m} = mul i64 %kept, {row}",
            f"  %at{m} = getelementptr i8, ptr %out{m}, i64 %row{m}",
            f"  %wide{m} = mul i64 %total, {row}",
            *store_outputs.store(m, results[m], shape, buffer, f"%wide{m}", f"%at{m}"),
        ]
    lines += [
        "  %more.kept = add i64 %kept, 1",
        "  br label %stepped",
        "pass:",
        "  br label %stepped",
        "stepped:",
        "  %waiting = phi i64 [ %every, %keep ], [ %sooner, %pass ]",
        "  %keeping = phi i64 [ %more.kept, %keep ], [ %kept, %pass ]",
        "  %later = add i64 %now, 1",
        "  %going = icmp ult i64 %later, %steps",
        "  br i1 %going, label %step, label %next",
        "next:",
    ]
    for m in range(scan.states):
        lines += store_outputs.store(m, results[m], shape, buffer, f"{sizes_out[m] * shape.size}", f"%out{m}")
    return lines


def _rows_out(program: Program, sizes_out: list[int], scan: Scan | None) -> list[store_outputs.Row]:
    """The rows of all results; a scan's state is where its arguments are."""
    return store_outputs.rows_of(program, sizes_out, scan.places if scan else [])


def _load(run: tuple[int, int, int, int], shape: Shape, buffer: str, suffix: str) -> list[str]:
    k, column, slot, length = run
    return [
        f"  %base{slot} = getelementptr inbounds {shape.scalar}, ptr %in{k}{suffix}, i64 {column}",
        f"  %to{slot} = getelementptr inbounds i8, ptr {buffer}, i64 {slot * shape.bytes}",
        f"  call void @{transpose.loader(length)}(ptr %to{slot}, ptr %base{slot}, i64 %st{k}, ptr %of{k}, i64 %t, "
        f"i64 %count, i64 %last, i64 {length})",
    ]


def runs(program: Program) -> list[tuple[int, int, int, int]]:
    """(argument, column, slot, length): elements that lie in an argument as in the slots, unused ones in between."""
    stretches = []
    inputs = sorted(item for item in program.inputs if item[2] >= 0)
    keyed = [(argument, column - slot, column, slot) for argument, column, slot in inputs]
    for _, group in groupby(keyed, key=lambda item: item[:2]):
        members = list(group)
        stretches.append((members[0][0], members[0][2], members[0][3], members[-1][2] - members[0][2] + 1))
    return stretches
