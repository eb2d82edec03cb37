"""The text of the door from Python, see `door`: one LLVM function for all kernels.

It reads the fields of NumPy's array objects at the places where NumPy's binary interface has them, makes arrays through
NumPy's own table of functions, and calls Python through functions of the stable interface only.
"""

from collections.abc import Sequence

from multibody.compiler.runtime.fastcall_helpers_ir import FIELDS, HELPERS
from multibody.compiler.runtime.unit_quaternions_ir import UNITS

MOST = 32
"""Arguments or results that the door can take."""
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

    numbers = ("inputs", "outputs", "single", "largest", "alone", "quaternions", "wide")
    fields = "\n".join(field(name, "i64" if name in numbers else "ptr") for name in record)
    return f"""
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyObject_GetItem(ptr, ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

{HELPERS}{UNITS}
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
  %is.one = icmp eq i64 %samples, 1
  %form = select i1 %is.one, ptr %one, ptr %kernel
  %unmade = icmp eq ptr %form, null
  %not.here = or i1 %too.long, %unmade
  br i1 %not.here, label %slowly, label %guarded
guarded:
  %units = call i1 @units(ptr %in, ptr %strides, i64 %samples, ptr %places, i64 %quaternions, i64 %wide)
  br i1 %units, label %named, label %slowly
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
  %no.dest = icmp eq ptr %dest, %none
  br i1 %no.dest, label %make, label %destined
destined:
  %is.single = icmp ne i64 %single, 0
  br i1 %is.single, label %fill, label %several
several:
  %dest.type.a = getelementptr i8, ptr %dest, i64 {FIELDS["type"]}
  %dest.type = load ptr, ptr %dest.type.a, align 8
  %is.tuple = icmp eq ptr %dest.type, %tuple_type
  br i1 %is.tuple, label %sized, label %slowly
sized:
  %dest.n = call i64 @PyTuple_Size(ptr %dest)
  %enough = icmp eq i64 %dest.n, %outputs
  br i1 %enough, label %fill, label %slowly
fill:
  %m = phi i64 [ 0, %destined ], [ 0, %sized ], [ %m1, %filled ]
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

; no result may lie over another
apart:
  %p = phi i64 [ 0, %fill ], [ %p1, %between.next ]
  %p.end = icmp eq i64 %p, %outputs
  br i1 %p.end, label %between.done, label %between.first
between.first:
  %po.a = getelementptr ptr, ptr %out, i64 %p
  %po = load ptr, ptr %po.a, align 8
  %ps = getelementptr [4 x i64], ptr %output_specs, i64 %p
  %pb.a = getelementptr i64, ptr %ps, i64 2
  %pb = load i64, ptr %pb.a, align 8
  %pl = mul i64 %pb, %samples
  %pe = getelementptr i8, ptr %po, i64 %pl
  br label %between
between:
  %r = phi i64 [ 0, %between.first ], [ %r1, %between.ok ]
  %r.end = icmp eq i64 %r, %p
  br i1 %r.end, label %between.next, label %between.check
between.check:
  %ro.a = getelementptr ptr, ptr %out, i64 %r
  %ro = load ptr, ptr %ro.a, align 8
  %rs = getelementptr [4 x i64], ptr %output_specs, i64 %r
  %rb.a = getelementptr i64, ptr %rs, i64 2
  %rb = load i64, ptr %rb.a, align 8
  %rl = mul i64 %rb, %samples
  %re = getelementptr i8, ptr %ro, i64 %rl
  %r.before = icmp ule ptr %re, %po
  %r.after = icmp ule ptr %pe, %ro
  %r.clear = or i1 %r.before, %r.after
  br i1 %r.clear, label %between.ok, label %slowly
between.ok:
  %r1 = add i64 %r, 1
  br label %between
between.next:
  %p1 = add i64 %p, 1
  br label %apart
; a batch may be run tile by tile only when no result lies over an argument
between.done:
  br i1 %one.sample, label %run, label %apart.out
apart.out:
  %u = phi i64 [ 0, %between.done ], [ %u1, %apart.next ]
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
  %a = phi i64 [ 0, %named ], [ 0, %destination ], [ %a1, %made ]
  %a.end = icmp eq i64 %a, %outputs
  br i1 %a.end, label %run, label %make.one
make.one:
  %aspec = getelementptr [4 x i64], ptr %output_specs, i64 %a
  %fresh = call ptr @fresh(ptr %new_array, ptr %array_type, ptr %descr, ptr %aspec, i64 %n)
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
  %mine.now = phi i1 [ true, %make ], [ false, %between.done ], [ false, %apart.out ]
  %back = phi ptr [ null, %make ], [ %dest, %between.done ], [ %dest, %apart.out ]
  %long = icmp sgt i64 %samples, %alone
  br i1 %long, label %released, label %held
released:
  %state = call ptr @PyEval_SaveThread()
  call void %form(ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %samples)
  call void @PyEval_RestoreThread(ptr %state)
  br label %answer
held:
  call void %form(ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %samples)
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
