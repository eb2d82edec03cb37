"""The LLVM modules of a program: one function per segment, and the entry that calls them.

A vector has one value of `lanes` samples. The buffer has a block of slots, a vector each, for each vector of the tile.
"""

from multibody.compiler.codegen import entry as entry_ir
from multibody.compiler.codegen import load_inputs, prefetch, transpose, vector_math
from multibody.compiler.codegen.builder import Builder
from multibody.compiler.codegen.matrices import loop_nest, operations
from multibody.compiler.ir.program import Program, Segment
from multibody.compiler.ir.tiling import Tiling
from multibody.tracing.graph.ops import ELEMENTARY

MODULE_NODES = 2000
"""Nodes and stores per module: LLVM compiles them in a fraction of a second, so that signals are handled in between."""
MATRIX_OPERATION_NODES = 200
"""Nodes that take as long to compile as the loops of a matrix operation."""
MAX_BLOCK_LINES = 2000
"""Lines of a basic block: LLVM's time grows with the square of its loads and stores."""
ALIGNED = "nounwind alignstack(64)"
"""Attributes of functions that spill vectors: LLVM would spill them across cache lines."""
_MEMORY = "declare ptr @malloc(i64)\ndeclare void @free(ptr)"
_TWO_ARGUMENTS = ("atan2", "hypot", "pow", "fmod", "mod")
MATH = (*ELEMENTARY, "pow")
_INTRINSIC = {"abs": "fabs", "sqrt": "sqrt", "floor": "floor", "rint": "rint"}
_COMPARE = {"lt": "fcmp olt", "le": "fcmp ole", "eq": "fcmp oeq", "ne": "fcmp une"}
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", **_COMPARE}
_BOOLEAN = (*_COMPARE, "and", "or", "not", "true", "false")


def modules(
    program: Program, tiling: Tiling, sizes_out: list[int], scan: entry_ir.ScanEntry | None = None, name: str = "kernel"
) -> list[str]:
    """The modules of a kernel: one, or for large programs several that are compiled one by one.

    Args:
        program: to generate code for.
        tiling: of the kernel.
        sizes_out: the elements per sample of every result.
        scan: for a scan over time.
        name: of the entry.
    """
    needed = _math_needed(program)
    library = vector_math.library(needed, tiling.lanes, tiling.dtype, fma=tiling.fma) if needed else ""
    together = sum(map(_weight, program.segments)) <= MODULE_NODES
    direct = together and scan is None and tiling.lanes > 1 and program.is_direct(sizes_out)
    fetch = prefetch.plan(program, tiling, sizes_out) if scan is None else prefetch.nothing(program)
    entry = entry_ir.entry(program, tiling, sizes_out, scan, name, fetch, direct=direct)
    rows = "\n".join([entry_ir.functions(program, tiling, sizes_out, scan, fetch), entry, _MEMORY, prefetch.INTRINSIC])
    segments = [_segment(program, k, f"{name}.{k}", tiling, fetch) for k in range(len(program.segments))]
    if together:  # one module, in which LLVM sees all calls
        segments += [_direct(program, tiling, sizes_out)] if direct else []
        segments += [loop_nest.intrinsics(tiling)] if any(segment.dense for segment in program.segments) else []
        text = "\n".join([library, _intrinsics(tiling, library), rows, *segments])
        return [text.replace(f"define void @{name}.", f"define internal void @{name}.")]
    v = tiling.vector
    calls = [f"declare void @{name}.{k}(ptr, i64, ptr, ptr)" for k in range(len(program.segments))]
    texts = ["\n".join([library.replace("define internal", "define"), rows, *calls])]
    math = "\n".join(
        f"declare {f'{{{v}, {v}}}' if op == 'sincos' else v} @{vector_math.symbol(op, tiling.lanes, tiling.dtype)}"
        f"({', '.join([v] * (2 if op in _TWO_ARGUMENTS else 1))})"
        for op in needed
    )
    declarations = [math, _intrinsics(tiling, ""), prefetch.INTRINSIC, loop_nest.intrinsics(tiling)]
    group: list[str] = []
    weight = 0
    for k, segment in enumerate(program.segments):
        group.append(segments[k])
        weight += _weight(segment)
        if weight >= MODULE_NODES or k == len(program.segments) - 1:
            texts.append("\n".join([*declarations, *group]))
            group, weight = [], 0
    return texts


def _weight(segment: Segment) -> int:
    return len(segment.nodes) + len(segment.stores) + (MATRIX_OPERATION_NODES if segment.dense else 0)


def _math_needed(program: Program) -> list[str]:
    """The elementary functions that segments call: within a segment, sine and cosine of one angle are one call."""
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


def _intrinsics(tiling: Tiling, declared: str) -> str:
    """Declarations of intrinsics that a text does not have already."""
    return "\n".join(
        f"declare {tiling.vector} @llvm.{name}.{tiling.suffix}({', '.join([tiling.vector] * arity)})"
        for name, arity in (*((name, 1) for name in _INTRINSIC.values()), ("fma", 3))
        if f"@llvm.{name}.{tiling.suffix}(" not in declared
    )


# ---- segments --------------------------------------------------------------------------------------------------------


def _segment(program: Program, number: int, name: str, tiling: Tiling, fetch: prefetch.PrefetchPlan) -> str:
    segment, lines = program.segments[number], fetch.lines[number]
    head = f"void @{name}(ptr noalias %buffer, i64 %count, ptr %rows, ptr %addresses)"
    if segment.dense:
        return operations.function(segment.dense, head, name, tiling)
    b = _SegmentBuilder(program, segment, tiling, name)
    slots_of: dict[int, list[int]] = {}
    for k, slot in segment.stores:
        slots_of.setdefault(k, []).append(slot)
    loaded = set(segment.loads.values())
    for i, slots in b.vectors("%buffer"):
        b.slots = slots
        rows = prefetch.row_addresses(b, lines, i)
        if segment.rows:
            b.addresses = b.gep("%addresses", b.mul(i, load_inputs.vector_bytes(program, tiling)))
        b.block_begin, prefetched = len(b.lines), 0
        for position, k in enumerate(dict.fromkeys([*segment.nodes, *slots_of])):
            b.node(k)
            b.limit_block()
            while prefetched < len(lines) and prefetched * len(segment.nodes) <= position * len(lines):
                prefetch.prefetch(b, fetch, lines[prefetched], rows)
                prefetched += 1
            for slot in slots_of.get(k, ()):
                if slot not in loaded:  # at once, to free the register
                    b.store_slot(k, slot)
        for k, slot in segment.stores:
            if slot in loaded:  # after all loads of the slot
                b.store_slot(k, slot)
    return "\n".join([b.function(head, ALIGNED), *b.tables])


def _direct(program: Program, tiling: Tiling, sizes_out: list[int]) -> str:
    """The only segment of a small program, from rows to rows: for whole vectors of samples at regular strides."""
    graph, runs = program.block.graph, program.input_runs
    used = sorted({run.argument for run in runs})
    b = _SegmentBuilder(program, program.segments[0], tiling, "direct")
    leaves = {graph.value[k]: k for k in program.block.order if graph.op[k] == "input"}
    for v in b.count("%count"):
        sample = b.mul(v, tiling.lanes)
        rows: dict[int, list[str]] = {}
        for k in used:
            first = b.gep(f"%in{k}", b.mul(sample, f"%st{k}"))
            rows[k] = b.each_lane(first, lambda row, _, k=k: b.gep(row, f"%st{k}"))
        for k, column, _, length in runs:
            for j, width in transpose.groups(tiling, length):
                for position, name in enumerate(transpose.read(b, rows[k], column + j, width), start=column + j):
                    if (k, position) in leaves:
                        b.values[leaves[k, position]] = name
        for node in program.segments[0].nodes:
            b.node(node)
        first = 0
        for m, length in enumerate(sizes_out):
            values = [b.value(k) for k in program.block.outputs[first : first + length]]
            first += length
            stride = length * tiling.size
            out = b.each_lane(
                b.gep(f"%out{m}", b.mul(sample, stride)), lambda row, _, stride=stride: b.gep(row, stride)
            )
            for j, width in transpose.groups(tiling, length):
                transpose.write(b, out, j, values[j : j + width])
    parameters = [f"ptr %in{k}, i64 %st{k}" for k in used] + [f"ptr noalias %out{m}" for m in range(len(sizes_out))]
    text = b.function(f"internal void @direct(i64 %count, {', '.join(parameters)})", ALIGNED)
    return "\n".join([text, *b.tables])


class _SegmentBuilder(Builder):
    """The loop of a segment over the vectors of a tile."""

    slots: str
    """The address of the vector's slots."""
    addresses: str
    """The address of the vector's part of the table of rows."""

    def __init__(self, program: Program, segment: Segment, tiling: Tiling, name: str) -> None:
        super().__init__(tiling)
        self.function_name = name
        self.tables: list[str] = []
        """Constants of the module, one line each."""
        self.graph = program.block.graph
        self.segment = segment
        self.block_begin = 0
        """The first line of the basic block."""
        self.values: dict[int, str] = {}
        self.nodes = set(segment.nodes)
        self.sines = {self.graph.args[k][0]: k for k in self.nodes if self.graph.op[k] == "sin"}
        self.cosines = {self.graph.args[k][0]: k for k in self.nodes if self.graph.op[k] == "cos"}
        self.arguments = load_inputs.arguments(program)
        self.groups = load_inputs.groups(segment, tiling)

    def limit_block(self) -> None:
        """Begin another basic block if this one is long."""
        if len(self.lines) - self.block_begin > MAX_BLOCK_LINES:
            self.enter(self.name())
            self.block_begin = len(self.lines)

    def value(self, k: int) -> str:
        """The value of a node; values of other segments are loaded at their first use."""
        if k in self.groups and k not in self.values:
            group = self.groups[k]
            names = load_inputs.read(self, self.addresses, group, self.arguments.index(group.argument))
            for node, name in zip(group.nodes, names, strict=True):
                if node is not None:
                    self.values.setdefault(node, name)
        if k not in self.values:
            op = self.graph.op[k]
            if op == "const":
                value = self.tiling.constant(self.graph.value[k])
            elif op in ("true", "false"):
                value = self.tiling.splat(f"i1 {op}")
            else:
                value = self.load(self.gep(self.slots, self.segment.loads[k] * self.tiling.bytes, inbounds=True))
                if op in _BOOLEAN:
                    value = self.binary("fcmp une", value, "zeroinitializer")
            self.values[k] = value
        return self.values[k]

    def store_slot(self, k: int, slot: int) -> None:
        """Store the value of a node to a slot."""
        value = self.value(k)
        if self.graph.op[k] in _BOOLEAN:
            value = self.select(value, self.tiling.constant(1.0), "zeroinitializer")
        self.store(value, self.gep(self.slots, slot * self.tiling.bytes, inbounds=True))

    def node(self, k: int) -> None:
        """Compute the value of a node, if it is not known."""
        op, args = self.graph.op[k], self.graph.args[k]
        if k in self.values or k not in self.nodes:
            self.value(k)
        elif op == "lookup":
            self.values[k] = self.lookup(k, self.value(args[0]), [self.graph.value[a] for a in args[1:]])
        else:
            operands = [self.value(a) for a in args]
            if op in ("sin", "cos") and args[0] in self.sines and args[0] in self.cosines:
                self.sine_and_cosine(args[0], operands[0])
            else:
                self.values[k] = self.operation(op, *operands)

    def operation(self, op: str, *args: str) -> str:
        """The result of an operation."""
        v, mask = self.tiling.vector, self.tiling.mask
        if op in _BINARY:
            return self.binary(_BINARY[op], *args)
        if op in ("fma", "fnma"):
            return self.multiply_add(*args, negate=op == "fnma")
        if op == "fms" and not self.tiling.fma:
            return self.binary("fsub", self.binary("fmul", args[0], args[1]), args[2])
        if op == "fms":
            return self.multiply_add(args[0], args[1], self.let(f"fneg {v} {args[2]}"))
        if op == "neg":
            return self.let(f"fneg {v} {args[0]}")
        if op == "select":
            return self.select(*args)
        if op in ("and", "or"):
            return self.let(f"{op} {mask} {args[0]}, {args[1]}")
        if op == "not":
            return self.let(f"xor {mask} {args[0]}, {self.tiling.splat('i1 true')}")
        if op in _INTRINSIC:
            return self.intrinsic(_INTRINSIC[op], *args)
        if op in ("min", "max"):  # as in NumPy, a NaN on either side wins
            first = self.binary("fcmp olt" if op == "min" else "fcmp ogt", *args)
            nan = self.binary("fcmp uno", args[0], args[0])
            return self.select(self.let(f"or {mask} {first}, {nan}"), *args)
        if op == "sign":
            return self.sign(args[0])
        return self.call(vector_math.symbol(op, self.tiling.lanes, self.tiling.dtype), *args)

    def sign(self, x: str) -> str:
        """-1, 0 or 1; NaN for NaN."""
        above, below, zero = (self.binary(f"fcmp {test}", x, "zeroinitializer") for test in ("ogt", "olt", "oeq"))
        low = self.select(below, self.tiling.constant(-1.0), self.select(zero, "zeroinitializer", x))
        return self.select(above, self.tiling.constant(1.0), low)

    def lookup(self, k: int, index: str, table: list[float]) -> str:
        """An entry of a table of constants for every lane; indices are integers within its bounds."""
        v, scalar, lanes = self.tiling.vector, self.tiling.scalar, self.tiling.lanes
        name = f"@{self.function_name}.table{k}"
        self.tables.append(f"{name} = private constant {self.tiling.array(table)}, align 64")
        indices = self.let(f"fptosi {v} {index} to <{lanes} x i32>")
        result = "poison"
        for lane in range(lanes):
            i = self.let(f"extractelement <{lanes} x i32> {indices}, i32 {lane}")
            address = self.let(f"getelementptr inbounds [{len(table)} x {scalar}], ptr {name}, i32 0, i32 {i}")
            result = self.let(f"insertelement {v} {result}, {scalar} {self.load(address, scalar)}, i32 {lane}")
        return result

    def sine_and_cosine(self, angle: int, x: str) -> None:
        """Both with one call."""
        v, symbol = self.tiling.vector, vector_math.symbol("sincos", self.tiling.lanes, self.tiling.dtype)
        both = self.let(f"call {{{v}, {v}}} @{symbol}({v} {x})")
        for position, k in enumerate((self.sines[angle], self.cosines[angle])):
            self.values[k] = self.let(f"extractvalue {{{v}, {v}}} {both}, {position}")
