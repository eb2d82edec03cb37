; Functions of the fast path that read NumPy arrays, compare their memory and create new ones; see fastcall.ll.
; Byte offsets of the fields of an array: type 8, data 16, axes 24, lengths 32, dtype 56, flags 64.
; At byte 24 of a dtype is a word with its kind, byte order and type number.

; the kind of an argument: 0 other, 1 a single sample, 2 a batch, whose length is stored in %length
define internal i64 @fits(ptr %object, ptr %type, ptr %descr, ptr %spec, i32 %flags, ptr %length) nounwind {
entry:
  %type.o.a = getelementptr i8, ptr %object, i64 8
  %type.o = load ptr, ptr %type.o.a, align 8
  %type.ok = icmp eq ptr %type.o, %type
  br i1 %type.ok, label %array, label %no
array:
  %descr.o.a = getelementptr i8, ptr %object, i64 56
  %descr.o = load ptr, ptr %descr.o.a, align 8
  %dtype.a = getelementptr i8, ptr %descr.o, i64 24
  %dtype = load i64, ptr %dtype.a, align 8
  %expected.dtype.a = getelementptr i8, ptr %descr, i64 24
  %expected.dtype = load i64, ptr %expected.dtype.a, align 8
  %descr.ok = icmp eq i64 %dtype, %expected.dtype
  %flags.o.a = getelementptr i8, ptr %object, i64 64
  %flags.o = load i32, ptr %flags.o.a, align 4
  %flags.has = and i32 %flags.o, %flags
  %flags.ok = icmp eq i32 %flags.has, %flags
  %both = and i1 %descr.ok, %flags.ok
  br i1 %both, label %axes, label %no
axes:
  %nd.i.a = getelementptr i8, ptr %object, i64 24
  %nd.i = load i32, ptr %nd.i.a, align 4
  %nd = sext i32 %nd.i to i64
  %want = load i64, ptr %spec, align 8
  %extra = sub i64 %nd, %want
  %possible = icmp ult i64 %extra, 2
  br i1 %possible, label %lengths, label %no
lengths:
  %dims.a = getelementptr i8, ptr %object, i64 32
  %dims = load ptr, ptr %dims.a, align 8
  %core = getelementptr i64, ptr %dims, i64 %extra
  %expected.a = getelementptr ptr, ptr %spec, i64 1
  %expected = load ptr, ptr %expected.a, align 8
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
}

define internal ptr @data(ptr %object) nounwind {
  %d.a = getelementptr i8, ptr %object, i64 16
  %d = load ptr, ptr %d.a, align 8
  ret ptr %d
}

; a new array without values, for a single sample (%n is -1) or for a batch
define internal ptr @new_array(ptr %new, ptr %type, ptr %descr, ptr %spec, i64 %n) nounwind {
entry:
  %dims = alloca [65 x i64], align 8
  %axes = load i64, ptr %spec, align 8
  %lengths.a = getelementptr ptr, ptr %spec, i64 1
  %lengths = load ptr, ptr %lengths.a, align 8
  %one.sample = icmp eq i64 %n, -1
  %nd = trunc i64 %axes to i32
  call void @Py_IncRef(ptr %descr) ; the new array takes it over
  br i1 %one.sample, label %sample, label %batch
sample:
  %alone = call ptr %new(ptr %type, ptr %descr, i32 %nd, ptr %lengths, ptr null, ptr null, i32 0, ptr null)
  ret ptr %alone
batch:
  store i64 %n, ptr %dims, align 8
  %more = add i32 %nd, 1
  br label %copy
copy:
  %k = phi i64 [ 0, %batch ], [ %k1, %copied ]
  %end = icmp eq i64 %k, %axes
  br i1 %end, label %make, label %copied
copied:
  %length.a = getelementptr i64, ptr %lengths, i64 %k
  %length = load i64, ptr %length.a, align 8
  %k1 = add i64 %k, 1
  %dims.put = getelementptr i64, ptr %dims, i64 %k1
  store i64 %length, ptr %dims.put, align 8
  br label %copy
make:
  %rows = call ptr %new(ptr %type, ptr %descr, i32 %more, ptr %dims, ptr null, ptr null, i32 0, ptr null)
  ret ptr %rows
}

; the result of a new array: the array itself or, as in NumPy, the number in an array without axes
define internal ptr @result(ptr %array, ptr %spec, i64 %n) nounwind {
  %axes = load i64, ptr %spec, align 8
  %no.axes = icmp eq i64 %axes, 0
  %one.sample = icmp eq i64 %n, -1
  %bare = and i1 %no.axes, %one.sample
  br i1 %bare, label %number, label %array.only
number:
  %shape.a = getelementptr ptr, ptr %spec, i64 3
  %shape = load ptr, ptr %shape.a, align 8
  %value = call ptr @PyObject_GetItem(ptr %array, ptr %shape)
  call void @Py_DecRef(ptr %array)
  ret ptr %value
array.only:
  ret ptr %array
}

; whether a block of memory overlaps none of the first %count arrays of a list
define internal i1 @is_apart(ptr %block, i64 %bytes, ptr %arrays, ptr %specs, i64 %count, i64 %samples) nounwind {
entry:
  %end = getelementptr i8, ptr %block, i64 %bytes
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %compare ]
  %done = icmp eq i64 %k, %count
  br i1 %done, label %yes, label %compare
compare:
  %start.a = getelementptr ptr, ptr %arrays, i64 %k
  %start = load ptr, ptr %start.a, align 8
  %size.a = getelementptr [4 x i64], ptr %specs, i64 %k, i64 2
  %size = load i64, ptr %size.a, align 8
  %length = mul i64 %size, %samples
  %stop = getelementptr i8, ptr %start, i64 %length
  %before = icmp ule ptr %stop, %block
  %after = icmp ule ptr %end, %start
  %clear = or i1 %before, %after
  %k1 = add i64 %k, 1
  br i1 %clear, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}
