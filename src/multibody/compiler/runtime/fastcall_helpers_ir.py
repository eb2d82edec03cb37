"""What the door is made of: functions that look into NumPy's arrays and make new ones.

See `door_ir`, which is the door itself.
"""

FIELDS = {"type": 8, "data": 16, "nd": 24, "dims": 32, "descr": 56, "flags": 64}
"""Where a NumPy array has its fields."""
_NUMBERS = 24
"""Where a NumPy dtype has the word of its kind, its order of bytes and its type number."""
_MOST_AXES = 65
"""Axes of a NumPy array, and one for the batch."""

HELPERS = f"""
; 0: not what it should be; 1: a single sample; 2: a batch, whose length goes to %length
define internal i64 @fits(ptr %object, ptr %type, ptr %descr, ptr %spec, i32 %flags, ptr %length) nounwind {{
entry:
  %type.a = getelementptr i8, ptr %object, i64 {FIELDS["type"]}
  %type.o = load ptr, ptr %type.a, align 8
  %type.ok = icmp eq ptr %type.o, %type
  br i1 %type.ok, label %array, label %no
array:
  %descr.a = getelementptr i8, ptr %object, i64 {FIELDS["descr"]}
  %descr.o = load ptr, ptr %descr.a, align 8
  %numbers.a = getelementptr i8, ptr %descr.o, i64 {_NUMBERS}
  %numbers = load i64, ptr %numbers.a, align 8
  %wanted.a = getelementptr i8, ptr %descr, i64 {_NUMBERS}
  %wanted = load i64, ptr %wanted.a, align 8
  %descr.ok = icmp eq i64 %numbers, %wanted
  %flags.a = getelementptr i8, ptr %object, i64 {FIELDS["flags"]}
  %flags.o = load i32, ptr %flags.a, align 4
  %flags.has = and i32 %flags.o, %flags
  %flags.ok = icmp eq i32 %flags.has, %flags
  %both = and i1 %descr.ok, %flags.ok
  br i1 %both, label %axes, label %no
axes:
  %nd.a = getelementptr i8, ptr %object, i64 {FIELDS["nd"]}
  %nd.i = load i32, ptr %nd.a, align 4
  %nd = sext i32 %nd.i to i64
  %want = load i64, ptr %spec, align 8
  %extra = sub i64 %nd, %want
  %possible = icmp ult i64 %extra, 2
  br i1 %possible, label %lengths, label %no
lengths:
  %dims.a = getelementptr i8, ptr %object, i64 {FIELDS["dims"]}
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
  %a = getelementptr i8, ptr %object, i64 {FIELDS["data"]}
  %d = load ptr, ptr %a, align 8
  ret ptr %d
}}

; a new array that is not filled, for a single sample (%n is -1) or for a batch
define internal ptr @fresh(ptr %new, ptr %type, ptr %descr, ptr %spec, i64 %n) nounwind {{
entry:
  %dims = alloca [{_MOST_AXES} x i64], align 8
  %axes = load i64, ptr %spec, align 8
  %lengths.a = getelementptr i64, ptr %spec, i64 1
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
  %from = getelementptr i64, ptr %lengths, i64 %k
  %length = load i64, ptr %from, align 8
  %k1 = add i64 %k, 1
  %to = getelementptr i64, ptr %dims, i64 %k1
  store i64 %length, ptr %to, align 8
  br label %copy
make:
  %rows = call ptr %new(ptr %type, ptr %descr, i32 %more, ptr %dims, ptr null, ptr null, i32 0, ptr null)
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
"""
