; Whether all quaternions in the arguments have unit length; those that are not finite pass. Sixteen samples are checked
; at a time, so that they are still in the cache when their next quaternion is read.
define zeroext i1 @units(ptr %in, ptr %strides, i64 %n, ptr %starts, i64 %count, i64 %is_double) nounwind {
entry:
  %double = icmp ne i64 %is_double, 0
  %any = icmp ne i64 %count, 0
  br i1 %any, label %some, label %fine
some:
  %b = phi i64 [ 0, %entry ], [ %b1, %passed ]
  %left = icmp ult i64 %b, %n
  br i1 %left, label %begin, label %fine
begin:
  %b1 = add i64 %b, 16
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
  %where = getelementptr [2 x i64], ptr %starts, i64 %k
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
  %low = fcmp olt double %s, $MIN_SQUARED_LENGTH
  %high = fcmp ogt double %s, $MAX_SQUARED_LENGTH
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
}
