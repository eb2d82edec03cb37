"""The text of an LLVM module for a program: one function per segment, and those of rows_ir around them.

A vector holds one value of `lanes` samples. The buffer has a row of slots, a vector each, for each vector of samples.
"""

from multibody.compiler.codegen import entry as entry_ir
from multibody.compiler.codegen import load_inputs, prefetch, transpose, vector_math
from multibody.compiler.codegen.matrices import loop_nest, operations
from multibody.compiler.ir.segments import SHORT, SMALL, Program, Segment
from multibody.compiler.ir.tiling import Shape

GROUP = 2000
"""Nodes and stores per module: what LLVM compiles in a fraction of a second, so that a signal is heard in between."""
DENSE = 200
"""Nodes that take as long to compile as the loops of an operation on matrices."""
BASIC_BLOCK = 2000
"""Lines of a basic block: the time that LLVM takes for one grows with the square of its loads and stores."""
ALIGNED = "alignstack(64)"
"""The attribute of functions that keep vectors on the stack: LLVM would put them across the lines of the cache."""
_MEMORY = "declare ptr @malloc(i64)\ndeclare void @free(ptr)"
_OF_TWO = ("atan2", "hypot", "pow", "fmod", "mod")
MATH = (
    *("sin", "cos", "tan", "asin", "acos", "exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh"),
    *_OF_TWO,
)
_INTRINSIC = {"abs": "fabs", "sqrt": "sqrt", "floor": "floor", "rint": "rint"}
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}


def modules(
    program: Program, shape: Shape, sizes_out: list[int], scan: entry_ir.Scan | None = None, name: str = "kernel"
) -> list[str]:
    """The texts of the modules of a kernel: one, or for large programs several that are compiled one by one.

    Args:
        program: what to compute.
        shape: how numbers are held.
        sizes_out: the elements per sample of every result.
        scan: for a scan over time.
        name: of its entry.
    """
    needed = _math_needed(program)
    library = vector_math.library(needed, shape.lanes, shape.dtype, fma=shape.fma) if needed else ""
    alone = sum(map(_weight, program.segments)) <= GROUP
    direct = alone and scan is None and shape.lanes > 1 and _is_small(program, sizes_out)
    fetch = prefetch.plan(program, shape, sizes_out) if scan is None else prefetch.nothing(program)
    entry = entry_ir.entry(program, shape, sizes_out, scan, name, fetch, direct=direct)
    rows = "\n".join([entry_ir.rows(program, shape, sizes_out, scan, fetch), entry, _MEMORY, prefetch.INTRINSIC])
    if alone:  # one module, in which LLVM sees all calls
        code = [_segment(program, k, f"{name}.{k}", shape, fetch) for k in range(len(program.segments))]
        code += [_direct(program, shape, sizes_out)] if direct else []
        code += [loop_nest.intrinsics(shape)] if any(segment.dense for segment in program.segments) else []
        return [
            "\n".join([library, _intrinsics(shape, library), rows, *code]).replace(
                f"define void @{name}.", f"define internal void @{name}."
            )
        ]
    v = shape.vector
    calls = [f"declare void @{name}.{k}(ptr, i64, ptr, ptr)" for k in range(len(program.segments))]
    texts = ["\n".join([library.replace("define internal", "define"), rows, *calls])]
    math = "\n".join(
        f"declare {f'{{{v}, {v}}}' if op == 'sincos' else v} @{vector_math.symbol(op, shape.lanes, shape.dtype)}"
        f"({', '.join([v] * (2 if op in _OF_TWO else 1))})"
        for op in needed
    )
    group: list[str] = []
    weight = 0
    for k, segment in enumerate(program.segments):
        group.append(_segment(program, k, f"{name}.{k}", shape, fetch))
        weight += _weight(segment)
        if weight >= GROUP or k == len(program.segments) - 1:
            texts.append(
                "\n".join([math, _intrinsics(shape, ""), prefetch.INTRINSIC, loop_nest.intrinsics(shape), *group])
            )
            group, weight = [], 0
    return texts


def _weight(segment: Segment) -> int:
    return len(segment.nodes) + len(segment.stores) + (DENSE if segment.dense else 0)


def _math_needed(program: Program) -> list[str]:
    """The functions that segments call: a sine and a cosine of one angle are computed together within a segment."""
    graph = program.block.graph
    names = set()
    for segment in program.segments:
        sines = {graph.args[k][0] for k in segment.nodes if graph.op[k] == "sin"}
        for k in segment.nodes:
            op = graph.op[k]
            if op == "cos" and graph.args[k][0] in sines:
                names.add("sincos")
            elif op in MATH:
                names.add(op)
    return sorted(names)


def _intrinsics(shape: Shape, declared: str) -> str:
    """Declarations that are not in a text already."""
    v, suffix = shape.vector, f"v{shape.lanes}f{8 * shape.size}"
    return "\n".join(
        f"declare {v} @llvm.{name}.{suffix}({', '.join([v] * arity)})"
        for name, arity in (*((name, 1) for name in _INTRINSIC.values()), ("fma", 3))
        if f"@llvm.{name}.{suffix}(" not in declared
    )


# ---- segments --------------------------------------------------------------------------------------------------------


def _segment(program: Program, number: int, name: str, shape: Shape, fetch: prefetch.Plan) -> str:
    segment, lines = program.segments[number], fetch.lines[number]
    if segment.dense:
        return operations.function(segment.dense, name, shape)
    emit = _Emitter(program, segment, shape, name)
    places: dict[int, list[int]] = {}
    for k, slot in segment.stores:
        places.setdefault(k, []).append(slot)
    read = set(segment.loads.values())
    asked = 0
    for position, k in enumerate(dict.fromkeys([*segment.nodes, *places])):
        emit.node(k)
        emit.cut()
        while asked < len(lines) and asked * len(segment.nodes) <= position * len(lines):
            emit.lines += prefetch.ask(fetch, lines[asked])
            asked += 1
        for slot in places.get(k, ()):
            if slot not in read:  # at once, so that no register waits for the end
                emit.store(k, slot)
    late = [(k, slot) for k, slot in segment.stores if slot in read]  # values that change places
    for k, slot in late:
        emit.store(k, slot)
    return "\n".join(
        [
            f"define void @{name}(ptr noalias %buffer, i64 %count, ptr %rows, ptr %addresses) nounwind {ALIGNED} {{",
            "entry:",
            "  br label %loop",
            "loop:",
            f"  %i = phi i64 [ 0, %entry ], [ %next, %{emit.block} ]",
            f"  %at = mul i64 %i, {shape.row}",
            "  %p = getelementptr inbounds i8, ptr %buffer, i64 %at",
            *prefetch.bases(fetch, number),
            *(load_inputs.vector(program, shape) if segment.rows else []),
            *emit.lines,
            "  %next = add i64 %i, 1",
            "  %more = icmp ult i64 %next, %count",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
            *emit.tables,
        ]
    )


def _is_small(program: Program, sizes_out: list[int]) -> bool:
    """Whether moving rows weighs as much as the work, so that it pays to move them past the buffer."""
    runs = entry_ir.runs(program)
    short = max([run[3] for run in runs] + sizes_out, default=0) <= SHORT
    return bool(runs and sizes_out) and short and program.steps == [0] and program.segments[0].work <= SMALL


def _direct(program: Program, shape: Shape, sizes_out: list[int]) -> str:
    """The one segment of a small program, from rows to rows: for whole vectors of samples at regular strides."""
    lanes, graph = range(shape.lanes), program.block.graph
    runs = entry_ir.runs(program)
    used = sorted({run[0] for run in runs})
    emit = _Emitter(program, program.segments[0], shape, "direct")
    leaves = {graph.value[k]: k for k in program.block.order if graph.op[k] == "input"}
    for k in used:
        emit.lines += [f"  %b{k}.o = mul i64 %s, %st{k}", f"  %b{k}.r0 = getelementptr i8, ptr %in{k}, i64 %b{k}.o"]
        emit.lines += [f"  %b{k}.r{n} = getelementptr i8, ptr %b{k}.r{n - 1}, i64 %st{k}" for n in lanes[1:]]
    for number, (k, column, _, length) in enumerate(runs):
        starts = transpose.fours(shape, length)
        names: dict[int, str] = {}
        for j in starts:
            lines, values = transpose.four_values(shape, str(column + j), f"i{number}q{j}", f"%b{k}.r")
            emit.lines += lines
            names.update(zip(range(j, j + 4), values, strict=True))
        for j in range(length) if not starts else ():
            lines, name = transpose.one_value(shape, str(column + j), f"i{number}e{j}", f"%b{k}.r")
            emit.lines += lines
            names[j] = name
        emit.values.update((leaves[k, column + j], name) for j, name in names.items() if (k, column + j) in leaves)
    for node in program.segments[0].nodes:
        emit.node(node)
    first = 0
    for m, length in enumerate(sizes_out):
        values = [emit.value(k) for k in program.block.outputs[first : first + length]]
        first += length
        emit.lines += [f"  %d{m}.o = mul i64 %s, {length * shape.size}"]
        emit.lines += [f"  %d{m}.r0 = getelementptr i8, ptr %out{m}, i64 %d{m}.o"]
        emit.lines += [
            f"  %d{m}.r{n} = getelementptr i8, ptr %d{m}.r{n - 1}, i64 {length * shape.size}" for n in lanes[1:]
        ]
        starts = transpose.fours(shape, length)
        for j in starts:
            emit.lines += transpose.four_rows(shape, str(j), f"o{m}q{j}", values[j : j + 4], f"%d{m}.r")
        for j in range(length) if not starts else ():
            emit.lines += transpose.one_row(shape, str(j), f"o{m}e{j}", values[j], f"%d{m}.r")
    parameters = [f"ptr %in{k}, i64 %st{k}" for k in used] + [f"ptr noalias %out{m}" for m in range(len(sizes_out))]
    return "\n".join(
        [
            f"define internal void @direct(i64 %count, {', '.join(parameters)}) nounwind {ALIGNED} {{",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %v = phi i64 [ 0, %entry ], [ %next, %loop ]",
            f"  %s = mul i64 %v, {shape.lanes}",
            *emit.lines,
            "  %next = add i64 %v, 1",
            "  %more = icmp ult i64 %next, %count",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
            *emit.tables,
        ]
    )


class _Emitter:
    """The lines of one segment's loop."""

    def __init__(self, program: Program, segment: Segment, shape: Shape, name: str) -> None:
        self.name = name
        self.tables: list[str] = []
        """Constants of the module, one line each."""
        self.graph = program.block.graph
        self.segment = segment
        self.shape = shape
        self.suffix = f"v{shape.lanes}f{8 * shape.size}"
        self.lines: list[str] = []
        self.block = "loop"
        """The basic block that the last of the lines are in."""
        self.begin = 0
        """The first of its lines."""
        self.values: dict[int, str] = {}
        self.nodes = set(segment.nodes)
        self.sines = {self.graph.args[k][0]: k for k in self.nodes if self.graph.op[k] == "sin"}
        self.cosines = {self.graph.args[k][0]: k for k in self.nodes if self.graph.op[k] == "cos"}
        self.arguments = load_inputs.arguments(program)
        self.groups = load_inputs.groups(segment, shape)

    def cut(self) -> None:
        """Begin another basic block where this one is long."""
        if len(self.lines) - self.begin > BASIC_BLOCK:
            self.block = f"from.{len(self.lines)}"
            self.lines += [f"  br label %{self.block}", f"{self.block}:"]
            self.begin = len(self.lines)

    def value(self, k: int) -> str:
        """The text of a node's value; a value from elsewhere is loaded where it is first used."""
        if k in self.groups and k not in self.values:
            self.read(self.groups[k])
        text = self.values.get(k)
        if text is None:
            op, v = self.graph.op[k], self.shape.vector
            if op == "const":
                text = self.shape.constant(self.graph.value[k])
            elif op in ("true", "false"):
                text = f"<{', '.join([f'i1 {op}'] * self.shape.lanes)}>"
            else:
                self.line(
                    f"%a{k}", f"getelementptr inbounds i8, ptr %p, i64 {self.segment.loads[k] * self.shape.bytes}"
                )
                text = self.line(f"%v{k}", f"load {v}, ptr %a{k}, align {self.shape.bytes}")
                if self.boolean(k):
                    text = self.line(f"%b{k}", f"fcmp une {v} {text}, zeroinitializer")
            self.values[k] = text
        return text

    def read(self, group: load_inputs.Group) -> None:
        """The vectors of elements of an argument, from its rows."""
        lines, names = load_inputs.read(group, self.arguments.index(group.argument), self.shape)
        self.lines += lines
        for k, name in zip(group.nodes, names, strict=True):
            if k is not None:
                self.values.setdefault(k, name)

    def boolean(self, k: int) -> bool:
        return self.graph.op[k] in (*_COMPARE, "and", "or", "not", "true", "false")

    def line(self, name: str, text: str) -> str:
        self.lines.append(f"  {name} = {text}")
        return name

    def call(self, name: str, function: str, *args: str) -> str:
        v = self.shape.vector
        return self.line(name, f"call {v} @{function}({', '.join(f'{v} {a}' for a in args)})")

    def store(self, k: int, slot: int) -> None:
        value, v = self.value(k), self.shape.vector
        if self.boolean(k):
            unit = self.shape.constant(1.0)
            value = self.line(f"%f{k}.{slot}", f"select {self.shape.mask} {value}, {v} {unit}, {v} zeroinitializer")
        address = self.line(f"%s{slot}", f"getelementptr inbounds i8, ptr %p, i64 {slot * self.shape.bytes}")
        self.lines.append(f"  store {v} {value}, ptr {address}, align {self.shape.bytes}")

    def node(self, k: int) -> None:
        if k in self.values:
            return
        if k not in self.nodes:
            self.value(k)
            return
        op, v, name = self.graph.op[k], self.shape.vector, f"%v{k}"
        if op == "lookup":
            index, *table = self.graph.args[k]
            self.lookup(k, self.value(index), [self.graph.value[a] for a in table])
            return
        args = [self.value(a) for a in self.graph.args[k]]
        if op in _BINARY:
            self.values[k] = self.line(name, f"{_BINARY[op]} {v} {args[0]}, {args[1]}")
        elif op in _COMPARE:
            self.values[k] = self.line(name, f"fcmp {_COMPARE[op]} {v} {args[0]}, {args[1]}")
        elif op in ("fma", "fms", "fnma"):
            self.values[k] = self.fused(name, op, *args)
        elif op == "neg":
            self.values[k] = self.line(name, f"fneg {v} {args[0]}")
        elif op == "select":
            self.values[k] = self.line(name, f"select {self.shape.mask} {args[0]}, {v} {args[1]}, {v} {args[2]}")
        elif op in ("and", "or"):
            self.values[k] = self.line(name, f"{op} {self.shape.mask} {args[0]}, {args[1]}")
        elif op == "not":
            ones = f"<{', '.join(['i1 true'] * self.shape.lanes)}>"
            self.values[k] = self.line(name, f"xor {self.shape.mask} {args[0]}, {ones}")
        elif op in _INTRINSIC:
            self.values[k] = self.call(name, f"llvm.{_INTRINSIC[op]}.{self.suffix}", *args)
        elif op in ("min", "max"):
            self.extremum(k, name, "olt" if op == "min" else "ogt", *args)
        elif op == "sign":
            self.sign(k, name, args[0])
        elif op in ("sin", "cos") and self.graph.args[k][0] in self.sines and self.graph.args[k][0] in self.cosines:
            self.sine_and_cosine(self.graph.args[k][0], args[0])
        else:
            self.values[k] = self.call(name, vector_math.symbol(op, self.shape.lanes, self.shape.dtype), *args)

    def fused(self, name: str, op: str, a: str, b: str, c: str) -> str:
        v = self.shape.vector
        if not self.shape.fma:  # no such instruction: two roundings on this class of machines
            product = self.line(f"{name}.p", f"fmul {v} {a}, {b}")
            text = {"fma": f"fadd {v} {product}, {c}", "fms": f"fsub {v} {product}, {c}"}
            return self.line(name, text.get(op, f"fsub {v} {c}, {product}"))
        if op == "fms":
            c = self.line(f"{name}.n", f"fneg {v} {c}")
        if op == "fnma":
            a = self.line(f"{name}.n", f"fneg {v} {a}")
        return self.call(name, f"llvm.fma.{self.suffix}", a, b, c)

    def lookup(self, k: int, index: str, table: list[float]) -> None:
        """An entry of a table of constants for every lane; indices are whole numbers and within it."""
        v, scalar, lanes = self.shape.vector, self.shape.scalar, self.shape.lanes
        kind = f"[{len(table)} x {scalar}]"
        self.tables.append(f"@{self.name}.table{k} = private constant {kind} {self.shape.array(table)}, align 64")
        places = self.line(f"%v{k}.i", f"fptosi {v} {index} to <{lanes} x i32>")
        result = "poison"
        for lane in range(lanes):
            place = self.line(f"%v{k}.i{lane}", f"extractelement <{lanes} x i32> {places}, i32 {lane}")
            entry = f"getelementptr inbounds {kind}, ptr @{self.name}.table{k}, i32 0, i32 {place}"
            address = self.line(f"%v{k}.a{lane}", entry)
            number = self.line(f"%v{k}.n{lane}", f"load {scalar}, ptr {address}, align {self.shape.size}")
            result = self.line(f"%v{k}.l{lane}", f"insertelement {v} {result}, {scalar} {number}, i32 {lane}")
        self.values[k] = result

    def extremum(self, k: int, name: str, comparison: str, a: str, b: str) -> None:
        """NumPy's minimum and maximum: a NaN on either side wins."""
        v, mask = self.shape.vector, self.shape.mask
        first = self.line(f"{name}.c", f"fcmp {comparison} {v} {a}, {b}")
        nan = self.line(f"{name}.u", f"fcmp uno {v} {a}, {a}")
        either = self.line(f"{name}.e", f"or {mask} {first}, {nan}")
        self.values[k] = self.line(name, f"select {mask} {either}, {v} {a}, {v} {b}")

    def sign(self, k: int, name: str, x: str) -> None:
        v, mask, unit = self.shape.vector, self.shape.mask, self.shape.constant(1.0)
        above = self.line(f"{name}.a", f"fcmp ogt {v} {x}, zeroinitializer")
        below = self.line(f"{name}.b", f"fcmp olt {v} {x}, zeroinitializer")
        zero = self.line(f"{name}.z", f"fcmp oeq {v} {x}, zeroinitializer")
        rest = self.line(f"{name}.r", f"select {mask} {zero}, {v} zeroinitializer, {v} {x}")
        low = self.line(f"{name}.l", f"select {mask} {below}, {v} {self.shape.constant(-1.0)}, {v} {rest}")
        self.values[k] = self.line(name, f"select {mask} {above}, {v} {unit}, {v} {low}")

    def sine_and_cosine(self, angle: int, x: str) -> None:
        v = self.shape.vector
        symbol = vector_math.symbol("sincos", self.shape.lanes, self.shape.dtype)
        both = self.line(f"%sc{angle}", f"call {{{v}, {v}}} @{symbol}({v} {x})")
        for position, k in enumerate((self.sines[angle], self.cosines[angle])):
            self.values[k] = self.line(f"%v{k}", f"extractvalue {{{v}, {v}}} {both}, {position}")
