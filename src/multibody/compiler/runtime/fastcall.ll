; The fast path of a call, see fastcall.py: one function for all kernels. It reads the fields of NumPy's array objects at
; the offsets of NumPy's binary interface, creates arrays through NumPy's table of functions, and calls Python through
; functions of the stable interface only. Words after a dollar sign are set by fastcall.py, which also expands lines
; "%name = field" to the load of a word of the record.

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


define ptr @fastcall(ptr %self, ptr %args, i64 %nargs, ptr %names) {
entry:
  %in = alloca [$MAX_ARGUMENTS x ptr], align 8
  %strides = alloca [$MAX_ARGUMENTS x i64], align 8
  %offsets = alloca [$MAX_ARGUMENTS x ptr], align 8
  %out = alloca {[$MAX_ARGUMENTS x ptr], ptr}, align 8 ; the last for bytes that a kernel could not allocate
  %results = alloca [$MAX_ARGUMENTS x ptr], align 8
  %length = alloca i64, align 8
  %item = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %record = call ptr @PyLong_AsVoidPtr(ptr %item)
  %open_blocks = field
  %inputs = field
  %array_type = field
  %descr = field
  %input_specs = field
  %blocks = load i64, ptr %open_blocks, align 8
  %native = icmp eq i64 %blocks, 0
  %complete = icmp eq i64 %nargs, %inputs
  %go = and i1 %complete, %native
  br i1 %go, label %arguments, label %general

arguments:
  %k = phi i64 [ 0, %entry ], [ %k1, %accepted ]
  %n = phi i64 [ -1, %entry ], [ %n1, %accepted ]
  %all = icmp eq i64 %k, %inputs
  br i1 %all, label %select, label %argument
argument:
  %arg.a = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.a, align 8
  %spec = getelementptr [4 x i64], ptr %input_specs, i64 %k
  %kind = call i64 @fits(ptr %arg, ptr %array_type, ptr %descr, ptr %spec, i32 257, ptr %length)
  %fits = icmp ne i64 %kind, 0
  br i1 %fits, label %accept, label %general
accept:
  %arg.d = call ptr @data(ptr %arg)
  %in.put = getelementptr ptr, ptr %in, i64 %k
  store ptr %arg.d, ptr %in.put, align 8
  %offsets.put = getelementptr ptr, ptr %offsets, i64 %k
  store ptr null, ptr %offsets.put, align 8
  %bytes.a = getelementptr [4 x i64], ptr %input_specs, i64 %k, i64 2
  %bytes = load i64, ptr %bytes.a, align 8
  %is.batch = icmp eq i64 %kind, 2
  %stride = select i1 %is.batch, i64 %bytes, i64 0
  %strides.put = getelementptr i64, ptr %strides, i64 %k
  store i64 %stride, ptr %strides.put, align 8
  br i1 %is.batch, label %batch, label %accepted
batch:
  %arg.n = load i64, ptr %length, align 8
  %unset = icmp eq i64 %n, -1
  %matches = icmp eq i64 %n, %arg.n
  %agrees = or i1 %unset, %matches
  br i1 %agrees, label %accepted, label %general
accepted:
  %n1 = phi i64 [ %n, %accept ], [ %arg.n, %batch ]
  %k1 = add i64 %k, 1
  br label %arguments

select:
  %one.sample = icmp eq i64 %n, -1
  %samples = select i1 %one.sample, i64 1, i64 %n
  %thread_count = field
  %min_split = field
  %max_samples = field
  %single = field
  %batched = field
  %threads = load i64, ptr %thread_count, align 8
  %may.split = icmp sgt i64 %threads, 1
  %limit = select i1 %may.split, i64 %min_split, i64 %max_samples
  %too.long = icmp sgt i64 %n, %limit
  %is.one = icmp eq i64 %samples, 1
  %code = select i1 %is.one, ptr %single, ptr %batched
  %not.compiled = icmp eq ptr %code, null
  %leave = or i1 %too.long, %not.compiled
  br i1 %leave, label %general, label %quaternions
quaternions:
  %starts = field
  %quaternion_count = field
  %is_double = field
  %units = call i1 @units(ptr %in, ptr %strides, i64 %samples, ptr %starts, i64 %quaternion_count, i64 %is_double)
  br i1 %units, label %keywords, label %general
keywords:
  %outputs = field
  %output_specs = field
  %one_result = field
  %no.names = icmp eq ptr %names, null
  br i1 %no.names, label %create, label %keyword
keyword:
  %names.n = call i64 @PyTuple_Size(ptr %names)
  %only = icmp eq i64 %names.n, 1
  br i1 %only, label %which, label %general
which:
  %name = call ptr @PyTuple_GetItem(ptr %names, i64 0)
  %out_name = field
  %is.out = icmp eq ptr %name, %out_name
  br i1 %is.out, label %destination, label %general
destination:
  %dest.a = getelementptr ptr, ptr %args, i64 %nargs
  %dest = load ptr, ptr %dest.a, align 8
  %none = field
  %no.dest = icmp eq ptr %dest, %none
  br i1 %no.dest, label %create, label %given
given:
  %is.single = icmp ne i64 %one_result, 0
  br i1 %is.single, label %fill, label %several
several:
  %dest.type.a = getelementptr i8, ptr %dest, i64 8
  %dest.type = load ptr, ptr %dest.type.a, align 8
  %tuple_type = field
  %is.tuple = icmp eq ptr %dest.type, %tuple_type
  br i1 %is.tuple, label %sized, label %general
sized:
  %dest.n = call i64 @PyTuple_Size(ptr %dest)
  %enough = icmp eq i64 %dest.n, %outputs
  br i1 %enough, label %fill, label %general
fill:
  %m = phi i64 [ 0, %given ], [ 0, %sized ], [ %m1, %filled ]
  %full = icmp eq i64 %m, %outputs
  br i1 %full, label %apart, label %part
part:
  br i1 %is.single, label %check, label %member
member:
  %dest.m = call ptr @PyTuple_GetItem(ptr %dest, i64 %m)
  br label %check
check:
  %target = phi ptr [ %dest, %part ], [ %dest.m, %member ]
  %ospec = getelementptr [4 x i64], ptr %output_specs, i64 %m
  %okind = call i64 @fits(ptr %target, ptr %array_type, ptr %descr, ptr %ospec, i32 1281, ptr %length)
  %expected.kind = select i1 %one.sample, i64 1, i64 2
  %right.kind = icmp eq i64 %okind, %expected.kind
  %out.n = load i64, ptr %length, align 8
  %right.n = icmp eq i64 %out.n, %samples
  %right = or i1 %one.sample, %right.n
  %usable = and i1 %right.kind, %right
  br i1 %usable, label %filled, label %general
filled:
  %target.d = call ptr @data(ptr %target)
  %out.put = getelementptr ptr, ptr %out, i64 %m
  store ptr %target.d, ptr %out.put, align 8
  %m1 = add i64 %m, 1
  br label %fill

; no result may overlap another, nor an argument of a batch, which is read and written tile by tile
apart:
  %p = phi i64 [ 0, %fill ], [ %p1, %apart.next ]
  %p.end = icmp eq i64 %p, %outputs
  br i1 %p.end, label %run, label %apart.next
apart.next:
  %block.a = getelementptr ptr, ptr %out, i64 %p
  %block = load ptr, ptr %block.a, align 8
  %block.bytes.a = getelementptr [4 x i64], ptr %output_specs, i64 %p, i64 2
  %block.bytes = load i64, ptr %block.bytes.a, align 8
  %block.n = mul i64 %block.bytes, %samples
  %of.results = call i1 @is_apart(ptr %block, i64 %block.n, ptr %out, ptr %output_specs, i64 %p, i64 %samples)
  %readers = select i1 %one.sample, i64 0, i64 %inputs
  %of.inputs = call i1 @is_apart(ptr %block, i64 %block.n, ptr %in, ptr %input_specs, i64 %readers, i64 %samples)
  %p1 = add i64 %p, 1
  %free = and i1 %of.results, %of.inputs
  br i1 %free, label %apart, label %general

create:
  %a = phi i64 [ 0, %keywords ], [ 0, %destination ], [ %a1, %created ]
  %a.end = icmp eq i64 %a, %outputs
  br i1 %a.end, label %run, label %create.next
create.next:
  %create_array = field
  %aspec = getelementptr [4 x i64], ptr %output_specs, i64 %a
  %fresh = call ptr @new_array(ptr %create_array, ptr %array_type, ptr %descr, ptr %aspec, i64 %n)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %error, label %created
created:
  %results.put = getelementptr ptr, ptr %results, i64 %a
  store ptr %fresh, ptr %results.put, align 8
  %fresh.d = call ptr @data(ptr %fresh)
  %fresh.put = getelementptr ptr, ptr %out, i64 %a
  store ptr %fresh.d, ptr %fresh.put, align 8
  %a1 = add i64 %a, 1
  br label %create
error:
  %e = phi i64 [ %a, %create.next ], [ %outputs, %starved ], [ %e1, %drop ]
  %retry = phi i1 [ false, %create.next ], [ true, %starved ], [ %retry, %drop ]
  %e.end = icmp eq i64 %e, 0
  br i1 %e.end, label %nothing, label %drop
drop:
  %e1 = sub i64 %e, 1
  %dropped.a = getelementptr ptr, ptr %results, i64 %e1
  %dropped = load ptr, ptr %dropped.a, align 8
  call void @Py_DecRef(ptr %dropped)
  br label %error
nothing:
  br i1 %retry, label %general, label %raise
raise:
  ret ptr null

run:
  %created.here = phi i1 [ true, %create ], [ false, %apart ]
  %back = phi ptr [ null, %create ], [ %dest, %apart ]
  %missing.a = getelementptr ptr, ptr %out, i64 %outputs
  store ptr null, ptr %missing.a, align 8
  %max_with_gil = field
  %long = icmp sgt i64 %samples, %max_with_gil
  br i1 %long, label %without.gil, label %with.gil
without.gil:
  %state = call ptr @PyEval_SaveThread()
  call void %code(ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %samples)
  call void @PyEval_RestoreThread(ptr %state)
  br label %answer
with.gil:
  call void %code(ptr %in, ptr %strides, ptr %offsets, ptr %out, i64 %samples)
  br label %answer
answer:
  %missing = load ptr, ptr %missing.a, align 8
  %allocated = icmp eq ptr %missing, null
  br i1 %allocated, label %answered, label %starved
starved: ; the kernel could not allocate its buffer: the general call tries again, or raises MemoryError
  br i1 %created.here, label %error, label %general
answered:
  br i1 %created.here, label %return, label %return.given
return.given:
  call void @Py_IncRef(ptr %back)
  ret ptr %back
return:
  %return.single = icmp ne i64 %one_result, 0
  br i1 %return.single, label %return.one, label %return.tuple
return.one:
  %only.array = load ptr, ptr %results, align 8
  %only.result = call ptr @result(ptr %only.array, ptr %output_specs, i64 %n)
  ret ptr %only.result
return.tuple:
  %tuple = call ptr @PyTuple_New(i64 %outputs)
  br label %return.next
return.next:
  %h = phi i64 [ 0, %return.tuple ], [ %h1, %return.item ]
  %h.end = icmp eq i64 %h, %outputs
  br i1 %h.end, label %return.done, label %return.item
return.item:
  %h.array.a = getelementptr ptr, ptr %results, i64 %h
  %h.array = load ptr, ptr %h.array.a, align 8
  %h.spec = getelementptr [4 x i64], ptr %output_specs, i64 %h
  %h.o = call ptr @result(ptr %h.array, ptr %h.spec, i64 %n)
  %ignored = call i32 @PyTuple_SetItem(ptr %tuple, i64 %h, ptr %h.o)
  %h1 = add i64 %h, 1
  br label %return.next
return.done:
  ret ptr %tuple

general:
  %general_call = field
  %answer.general = call ptr @PyObject_Vectorcall(ptr %general_call, ptr %args, i64 %nargs, ptr %names)
  ret ptr %answer.general
}
