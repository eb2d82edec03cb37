"""What the door is made of: functions that look into NumPy's arrays, make new ones, and check quaternions.

See `door_ir`, which is the door itself.
"""

FIELDS = {"type": 8, "data": 16, "nd": 24, "dims": 32, "descr": 56, "flags": 64}
"""Where a NumPy array has its fields."""
_NUMBERS = 24
"""Where a NumPy dtype has the word of its kind, its order of bytes and its type number."""
_MOST_AXES = 65
"""Axes of a NumPy array, and one for the batch."""
QUATERNION_WITHIN = 2e-6
"""How far the square of the length of a quaternion may be from 1."""
ROWS = 16
"""Of how many samples quaternions are checked before those of the next ones are."""

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

; whether no quaternion in the arguments is off its unit length; what is not a number passes. Many rows would leave the
; cache before the next quaternion of theirs is looked at: some go at a time.
define zeroext i1 @units(ptr %in, ptr %strides, i64 %n, ptr %places, i64 %count, i64 %wide) nounwind {{
entry:
  %double = icmp ne i64 %wide, 0
  %any = icmp ne i64 %count, 0
  br i1 %any, label %some, label %fine
some:
  %b = phi i64 [ 0, %entry ], [ %b1, %passed ]
  %left = icmp ult i64 %b, %n
  br i1 %left, label %begin, label %fine
begin:
  %b1 = add i64 %b, {ROWS}
  %inside = icmp ult i64 %b1, %n
  %until = select i1 %inside, i64 %b1, i64 %n
  %start.all = icmp eq i64 %b, 0
  %first.row = zext i1 %start.all to i64
  br label %place
place:
  %k = phi i64 [ 0, %begin ], [ %k1, %next ]
  %end = icmp eq i64 %k, %count
  br i1 %end, label %passed, label %one
passed:
  br label %some
one:
  %where = getelementptr [2 x i64], ptr %places, i64 %k
  %index = load i64, ptr %where, align 8
  %start.a = getelementptr i64, ptr %where, i64 1
  %start = load i64, ptr %start.a, align 8
  %in.a = getelementptr ptr, ptr %in, i64 %index
  %base = load ptr, ptr %in.a, align 8
  %stride.a = getelementptr i64, ptr %strides, i64 %index
  %stride = load i64, ptr %stride.a, align 8
  %same = icmp eq i64 %stride, 0
  %stop = select i1 %same, i64 %first.row, i64 %until
  %first = getelementptr i8, ptr %base, i64 %start
  br label %row
row:
  %r = phi i64 [ %b, %one ], [ %r1, %good ]
  %done = icmp uge i64 %r, %stop
  br i1 %done, label %next, label %sum
sum:
  %ahead = mul i64 %r, %stride
  %at = getelementptr i8, ptr %first, i64 %ahead
  br i1 %double, label %read.double, label %read.float
read.double:
  %d = load <4 x double>, ptr %at, align 8
  br label %square
read.float:
  %f = load <4 x float>, ptr %at, align 4
  %fd = fpext <4 x float> %f to <4 x double>
  br label %square
square:
  %q = phi <4 x double> [ %d, %read.double ], [ %fd, %read.float ]
  %qq = fmul <4 x double> %q, %q
  %q0 = extractelement <4 x double> %qq, i64 0
  %q1 = extractelement <4 x double> %qq, i64 1
  %q2 = extractelement <4 x double> %qq, i64 2
  %q3 = extractelement <4 x double> %qq, i64 3
  %s1 = fadd double %q0, %q1
  %s2 = fadd double %q2, %q3
  %s = fadd double %s1, %s2
  %low = fcmp olt double %s, {1 - QUATERNION_WITHIN!r}
  %high = fcmp ogt double %s, {1 + QUATERNION_WITHIN!r}
  %finite = fcmp olt double %s, 0x7FF0000000000000
  %large = and i1 %high, %finite
  %off = or i1 %low, %large
  br i1 %off, label %wrong, label %good
good:
  %r1 = add i64 %r, 1
  br label %row
next:
  %k1 = add i64 %k, 1
  br label %place
fine:
  ret i1 true
wrong:
  ret i1 false
}}
"""
