"""The text of the door from Python, see `door`: one LLVM function for all kernels.

It reads the fields of NumPy's array objects at the places where NumPy's binary interface has them, and calls Python
through functions of the stable interface only.
"""

from collections.abc import Sequence

MOST = 32
"""Arguments or results that the door can take."""
_FIELDS = {"type": 8, "data": 16, "nd": 24, "dims": 32, "descr": 56, "flags": 64}  # of a NumPy array
_NUMBERS = 24
"""Where a NumPy dtype has the word of its kind, its order of bytes and its type number."""
_C_CONTIGUOUS_ALIGNED = 0x0001 | 0x0100
_WRITEABLE = 0x0400


def text(record: Sequence[str]) -> str:
    """The module of the door, which knows of a kernel what is in a record: words with these names, in this order."""
    writeable = _C_CONTIGUOUS_ALIGNED | _WRITEABLE
    offset = {name: 8 * position for position, name in enumerate(record)}

    def field(name: str, kind: str) -> str:
        return (
            f"  %{name}.a = getelementptr i8, ptr %record, i64 {offset[name]}\n"
            f"  %{name} = load {kind}, ptr %{name}.a, align 8"
        )

    fields = "\n".join(
        field(name, "i64" if name in ("inputs", "outputs", "single", "largest", "alone") else "ptr") for name in record
    )
    return f"""
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyTuple_Pack(i64, ...)
declare ptr @PySequence_Concat(ptr, ptr)
declare ptr @PyLong_FromSsize_t(i64)
declare ptr @PyObject_GetItem(ptr, ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

; 0: not what it should be; 1: a single sample; 2: a batch, whose length goes to %length
define internal i64 @fits(ptr %object, ptr %type, ptr %descr, ptr %spec, i32 %flags, ptr %length) nounwind {{
entry:
  %type.a = getelementptr i8, ptr %object, i64 {_FIELDS["type"]}
  %type.o = load ptr, ptr %type.a, align 8
  %type.ok = icmp eq ptr %type.o, %type
  br i1 %type.ok, label %array, label %no
array:
  %descr.a = getelementptr i8, ptr %object, i64 {_FIELDS["descr"]}
  %descr.o = load ptr, ptr %descr.a, align 8
  %numbers.a = getelementptr i8, ptr %descr.o, i64 {_NUMBERS}
  %numbers = load i64, ptr %numbers.a, align 8
  %wanted.a = getelementptr i8, ptr %descr, i64 {_NUMBERS}
  %wanted = load i64, ptr %wanted.a, align 8
  %descr.ok = icmp eq i64 %numbers, %wanted
  %flags.a = getelementptr i8, ptr %object, i64 {_FIELDS["flags"]}
  %flags.o = load i32, ptr %flags.a, align 4
  %flags.has = and i32 %flags.o, %flags
  %flags.ok = icmp eq i32 %flags.has, %flags
  %both = and i1 %descr.ok, %flags.ok
  br i1 %both, label %axes, label %no
axes:
  %nd.a = getelementptr i8, ptr %object, i64 {_FIELDS["nd"]}
  %nd.i = load i32, ptr %nd.a, align 4
  %nd = sext i32 %nd.i to i64
  %want = load i64, ptr %spec, align 8
  %extra = sub i64 %nd, %want
  %possible = icmp ult i64 %extra, 2
  br i1 %possible, label %lengths, label %no
lengths:
  %dims.a = getelementptr i8, ptr %object, i64 {_FIELDS["dims"]}
  %dims = load ptr, ptr %dims.a, align 8
  %core = getelementptr i64, ptr %dims, i64 %extra
  %spec.a = getelementptr i64, ptr %spec, i64 1
  %expected = load ptr, ptr %spec.a, align 8
  br label %compare
compare:
  %k = phi i64 [ 0, %lengths ], [ %k1, %same ]
  %end = icmp eq i64 %k, %want
  br i1 %end, label %yes, label %one
one:
  %has.a = getelementptr i64, ptr %core, i64 %k
  %has = load i64, ptr %has.a, align 8
  %needs.a = getelementptr i64, ptr %expected, i64 %k
  %needs = load i64, ptr %needs.a, align 8
  %equal = icmp eq i64 %has, %needs
  br i1 %equal, label %same, label %no
same:
  %k1 = add i64 %k, 1
  br label %compare
yes:
  %batched = icmp eq i64 %extra, 1
  br i1 %batched, label %batch, label %sample
batch:
  %count = load i64, ptr %dims, align 8
  store i64 %count, ptr %length, align 8
  ret i64 2
sample:
  ret i64 1
no:
  ret i64 0
}}

define internal ptr @data(ptr %object) nounwind {{
  %a = getelementptr i8, ptr %object, i64 {_FIELDS["data"]}
  %d = load ptr, ptr %a, align 8
  ret ptr %d
}}

; np.empty(shape, dtype), for a single sample (%n is -1) or for a batch
define internal ptr @fresh(ptr %empty, ptr %descr, ptr %spec, i64 %n) nounwind {{
  %call = alloca [2 x ptr], align 8
  %core.a = getelementptr i64, ptr %spec, i64 3
  %core = load ptr, ptr %core.a, align 8
  store ptr %core, ptr %call, align 8
  %call.1 = getelementptr ptr, ptr %call, i64 1
  store ptr %descr, ptr %call.1, align 8
  %one.sample = icmp eq i64 %n, -1
  br i1 %one.sample, label %sample, label %batch
sample:
  %alone = call ptr @PyObject_Vectorcall(ptr %empty, ptr %call, i64 2, ptr null)
  ret ptr %alone
batch:
  %length = call ptr @PyLong_FromSsize_t(i64 %n)
  %first = call ptr (i64, ...) @PyTuple_Pack(i64 1, ptr %length)
  %shape = call ptr @PySequence_Concat(ptr %first, ptr %core)
  store ptr %shape, ptr %call, align 8
  %rows = call ptr @PyObject_Vectorcall(ptr %empty, ptr %call, i64 2, ptr null)
  call void @Py_DecRef(ptr %shape)
  call void @Py_DecRef(ptr %first)
  call void @Py_DecRef(ptr %length)
  ret ptr %rows
}}

; what is handed back for a fresh array: itself or, as NumPy has it, the number in one without axes
define internal ptr @handed(ptr %array, ptr %spec, i64 %n) nounwind {{
  %axes = load i64, ptr %spec, align 8
  %no.axes = icmp eq i64 %axes, 0
  %one.sample = icmp eq i64 %n, -1
  %bare = and i1 %no.axes, %one.sample
  br i1 %bare, label %number, label %whole
number:
  %shape.a = getelementptr i64, ptr %spec, i64 3
  %shape = load ptr, ptr %shape.a, align 8
  %value = call ptr @PyObject_GetItem(ptr %array, ptr %shape)
  call void @Py_DecRef(ptr %array)
  ret ptr %value
whole:
  ret ptr %array
}}

define ptr @door(ptr %self, ptr %args, i64 %nargs, ptr %names) {{
entry:
  %in = alloca [{MOST} x ptr], align 8
  %strides = alloca [{MOST} x i64], align 8
  %offsets = alloca [{MOST} x ptr], align 8
  %out = alloca [{MOST} x ptr], align 8
  %results = alloca [{MOST} x ptr], align 8
  %length = alloca i64, align 8
  %item = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %record = call ptr @PyLong_AsVoidPtr(ptr %item)
{fields}
  %wanted = load i64, ptr %eager, align 8
  %native = icmp eq i64 %wanted, 0
  %all = icmp eq i64 %nargs, %inputs
  %go = and i1 %all, %native
  br i1 %go, label %take, label %slowly

take:
  %k = phi i64 [ 0, %entry ], [ %k1, %took ]
  %n = phi i64 [ -1, %entry ], [ %n1, %took ]
  %taken = icmp eq i64 %k, %inputs
  br i1 %taken, label %keywords, label %argument
argument:
  %arg.a = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.a, align 8
  %spec = getelementptr [4 x i64], ptr %input_specs, i64 %k
  %kind = call i64 @fits(ptr %arg, ptr %array_type, ptr %descr, ptr %spec, i32 {_C_CONTIGUOUS_ALIGNED}, ptr %length)
  %good = icmp ne i64 %kind, 0
  br i1 %good, label %place, label %slowly
place:
  %in.a = getelementptr ptr, ptr %in, i64 %k
  %arg.d = call ptr @data(ptr %arg)
  store ptr %arg.d, ptr %in.a, align 8
  %offsets.a = getelementptr ptr, ptr %offsets, i64 %k
  store ptr null, ptr %offsets.a, align 8
  %strides.a = getelementptr i64, ptr %strides, i64 %k
  %is.batch = icmp eq i64 %kind, 2
  br i1 %is.batch, label %rows, label %lonely
lonely:
  store i64 0, ptr %strides.a, align 8
  br label %took
rows:
  %bytes.a = getelementptr i64, ptr %spec, i64 2
  %bytes = load i64, ptr %bytes.a, align 8
  store i64 %bytes, ptr %strides.a, align 8
  %mine = load i64, ptr %length, align 8
  %unset = icmp eq i64 %n, -1
  %matches = icmp eq i64 %n, %mine
  %agrees = or i1 %unset, %matches
  br i1 %agrees, label %took, label %slowly
took:
  %n1 = phi i64 [ %n, %lonely ], [ %mine, %rows ]
  %k1 = add i64 %k, 1
  br label %take

keywords:
  %one.sample = icmp eq i64 %n, -1
  %samples = select i1 %one.sample, i64 1, i64 %n
  %too.long = icmp sgt i64 %n, %largest
  br i1 %too.long, label %slowly, label %named
named:
  %no.names = icmp eq ptr %names, null
  br i1 %no.names, label %make, label %given
given:
  %names.n = call i64 @PyTuple_Size(ptr %names)
  %only = icmp eq i64 %names.n, 1
  br i1 %only, label %which, label %slowly
which:
  %name = call ptr @PyTuple_GetItem(ptr %names, i64 0)
  %is.out = icmp eq ptr %name, %out_name
  br i1 %is.out, label %destination, label %slowly
destination:
  %dest.a = getelementptr ptr, ptr %args, i64 %nargs
  %dest = load ptr, ptr %dest.a, align 8
  %is.single = icmp ne i64 %single, 0
  br i1 %is.single, label %fill, label %several
several:
  %dest.type.a = getelementptr i8, ptr %dest, i64 {_FIELDS["type"]}
  %dest.type = load ptr, ptr %dest.type.a, align 8
  %is.tuple = icmp eq ptr %dest.type, %tuple_type
  br i1 %is.tuple, label %sized, label %slowly
sized:
  %dest.n = call i64 @PyTuple_Size(ptr %dest)
  %enough = icmp eq i64 %dest.n, %outputs
  br i1 %enough, label %fill, label %slowly
fill:
  %m = phi i64 [ 0, %destination ], [ 0, %sized ], [ %m1, %filled ]
  %full = icmp eq i64 %m, %outputs
  br i1 %full, label %apart, label %part
part:
  br i1 %is.single, label %fill.it, label %member
member:
  %dest.m = call ptr @PyTuple_GetItem(ptr %dest, i64 %m)
  br label %fill.it
fill.it:
  %target = phi ptr [ %dest, %part ], [ %dest.m, %member ]
  %ospec = getelementptr [4 x i64], ptr %output_specs, i64 %m
  %okind = call i64 @fits(ptr %target, ptr %array_type, ptr %descr, ptr %ospec, i32 {writeable}, ptr %length)
  %expected.kind = select i1 %one.sample, i64 1, i64 2
  %right.kind = icmp eq i64 %okind, %expected.kind
  %omine = load i64, ptr %length, align 8
  %right.n = icmp eq i64 %omine, %samples
  %right = or i1 %one.sample, %right.n
  %usable = and i1 %right.kind, %right
  br i1 %usable, label %filled, label %slowly
filled:
  %out.a = getelementptr ptr, ptr %out, i64 %m
  %target.d = call ptr @data(ptr %target)
  store ptr %target.d, ptr %out.a, align 8
  %m1 = add i64 %m, 1
  br label %fill

; a batch may be run tile by tile only when no result lies over an argument
apart:
  br i1 %one.sample, label %run, label %apart.out
apart.out:
  %u = phi i64 [ 0, %apart ], [ %u1, %apart.next ]
  %u.end = icmp eq i64 %u, %outputs
  br i1 %u.end, label %run, label %apart.in0
apart.in0:
  %uo.a = getelementptr ptr, ptr %out, i64 %u
  %uo = load ptr, ptr %uo.a, align 8
  %us = getelementptr [4 x i64], ptr %output_specs, i64 %u
  %ub.a = getelementptr i64, ptr %us, i64 2
  %ub = load i64, ptr %ub.a, align 8
  %ul = mul i64 %ub, %samples
  %ue = getelementptr i8, ptr %uo, i64 %ul
  br label %apart.in
apart.in:
  %w = phi i64 [ 0, %apart.in0 ], [ %w1, %apart.ok ]
  %w.end = icmp eq i64 %w, %inputs
  br i1 %w.end, label %apart.next, label %apart.check
apart.check:
  %wi.a = getelementptr ptr, ptr %in, i64 %w
  %wi = load ptr, ptr %wi.a, align 8
  %ws = getelementptr [4 x i64], ptr %input_specs, i64 %w
  %wb.a = getelementptr i64, ptr %ws, i64 2
  %wb = load i64, ptr %wb.a, align 8
  %wl = mul i64 %wb, %samples
  %we = getelementptr i8, ptr %wi, i64 %wl
  %before = icmp ule ptr %we, %uo
  %after = icmp ule ptr %ue, %wi
  %clear = or i1 %before, %after
  br i1 %clear, label %apart.ok, label %slowly
apart.ok:
  %w1 = add i64 %w, 1
  br label %apart.in
apart.next:
  %u1 = add i64 %u, 1
  br label %apart.out

make:
  %a = phi i64 [ 0, %named ], [ %a1, %made ]
  %a.end = icmp eq i64 %a, %outputs
  br i1 %a.end, label %run, label %make.one
make.one:
  %aspec = getelementptr [4 x i64], ptr %output_specs, i64 %a
  %fresh = call ptr @fresh(ptr %empty, ptr %descr, ptr %aspec, i64 %n)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %error, label %made
made:
  %results.a = getelementptr ptr, ptr %results, i64 %a
  store ptr %fresh, ptr %results.a, align 8
  %fresh.d = call ptr @data(ptr %fresh)
  %fresh.a = getelementptr ptr, ptr %out, i64 %a
  store ptr %fresh.d, ptr %fresh.a, align 8
  %a1 = add i64 %a, 1
  br label %make
error:
  %e = phi i64 [ %a, %make.one ], [ %e1, %drop ]
  %e.end = icmp eq i64 %e, 0
  br i1 %e.end, label %nothing, label %drop
drop:
  %e1 = sub i64 %e, 1
  %dropped.a = getelementptr ptr, ptr %results, i64 %e1
  %dropped = load ptr, ptr %dropped.a, align 8
  call void @Py_DecRef(ptr %dropped)
  br label %error
nothing:
  ret ptr null

run:
  %mine.now = phi i1 [ true, %make ], [ false, %apart ], [ false, %apart.out ]
  %back = phi ptr [ null, %make ], [ %dest, %apart ], [ %dest, %apart.out ]
  %long = icmp sgt i64 %samples, %alone
  br i1 %long, label %released, label %held
released:
  %state = call ptr @PyEval_SaveThread()
  call void %kernel(ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %samples)
  call void @PyEval_RestoreThread(ptr %state)
  br label %answer
held:
  call void %kernel(ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %samples)
  br label %answer
answer:
  br i1 %mine.now, label %hand, label %return.given
return.given:
  call void @Py_IncRef(ptr %back)
  ret ptr %back
hand:
  %hand.single = icmp ne i64 %single, 0
  br i1 %hand.single, label %hand.one, label %hand.tuple
hand.one:
  %only.array = load ptr, ptr %results, align 8
  %only.result = call ptr @handed(ptr %only.array, ptr %output_specs, i64 %n)
  ret ptr %only.result
hand.tuple:
  %tuple = call ptr @PyTuple_New(i64 %outputs)
  br label %hand.next
hand.next:
  %h = phi i64 [ 0, %hand.tuple ], [ %h1, %hand.item ]
  %h.end = icmp eq i64 %h, %outputs
  br i1 %h.end, label %hand.done, label %hand.item
hand.item:
  %h.a = getelementptr ptr, ptr %results, i64 %h
  %h.array = load ptr, ptr %h.a, align 8
  %h.spec = getelementptr [4 x i64], ptr %output_specs, i64 %h
  %h.o = call ptr @handed(ptr %h.array, ptr %h.spec, i64 %n)
  %ignored = call i32 @PyTuple_SetItem(ptr %tuple, i64 %h, ptr %h.o)
  %h1 = add i64 %h, 1
  br label %hand.next
hand.done:
  ret ptr %tuple

slowly:
  %answer.slow = call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %nargs, ptr %names)
  ret ptr %answer.slow
}}
"""
