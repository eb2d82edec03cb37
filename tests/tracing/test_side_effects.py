"""What is recorded once for many rounds changes nothing from outside of it: it would do so once, not in every round."""

import functools
import itertools
import logging
import sys
import weakref
from collections import UserList, deque
from types import MappingProxyType, ModuleType, SimpleNamespace

import numpy as np
import pytest

import multibody as mb

from ..every_law import each_case

TOTAL = np.zeros(2)
COUNT = 0
SEEN: list = []
MODULE = ModuleType("somewhere")
MODULE.total = np.zeros(2)
sys.modules["somewhere"] = MODULE


class Counter:
    shared = 0
    made: list = []  # noqa: RUF012

    def __init__(self):
        self.n, self.total, self.inner = 0, np.zeros(2), {"log": []}

    def add(self, c):
        self.n += 1
        return c + self.n

    def add_to_array(self, c):
        self.total += 1.0
        return c + self.total

    def add_deep(self, c):
        self.inner["log"].append(1)
        return c + len(self.inner["log"])

    def add_to_class(self, c):
        type(self).shared += 1
        return c + Counter.shared

    @classmethod
    def make(cls, c):
        cls.made.append(1)
        return c + len(cls.made)

    def __call__(self, c):
        self.n += 1
        return c * self.n


KEPT = Counter()


class Slots:
    __slots__ = ("n",)

    def __init__(self):
        self.n = 0

    def add(self, c):
        self.n += 1
        return c + self.n


def to_global_array(c):
    TOTAL[0] += 1.0
    return c + TOTAL


def to_global_number(c):
    global COUNT
    COUNT += 1
    return c + COUNT


def by_a_helper(c):
    return to_global_array(2.0 * c)


def to_a_module(c):
    MODULE.total += 1.0
    return c + MODULE.total


def to_a_list_of_arrays(x):
    A = [x]

    def body(c):
        A[0] = A[0] * 2
        return c + A[0]

    return body


def to_a_dict_of_arrays(x):
    A = {"a": x, "b": {"c": np.zeros(2)}}

    def body(c):
        A["b"]["c"] += 1.0
        return c + A["b"]["c"]

    return body


def to_an_attribute(x):
    A = SimpleNamespace(x=x)

    def body(c):
        A.x = A.x * 2
        return c + A.x

    return body


def in_place_in_a_list(x):
    A = [2.0 * x]

    def body(c):
        A[0] += 1.0
        return c + A[0]

    return body


def of_one_number(x):
    A = [x[0]]

    def body(c):
        A[0] += 1.0
        return c + A[0]

    return body


def nonlocal_number(_):
    n = 0

    def body(c):
        nonlocal n
        n += 1
        return c * n

    return body


def to_an_array_of_integers(_):
    n = np.zeros(2, dtype=int)

    def body(c):
        np.add(n, 1, out=n)
        return c * n

    return body


def to_a_large_array(_):
    A = np.zeros(300_000)

    def body(c):
        A[-1] += 1.0
        return c * A[-1]

    return body


def to_a_view(_):
    A = np.zeros((2, 2))
    row = A[1]

    def body(c):
        row[0] += 1.0
        return c + A[1]

    return body


def appending(_):
    log: list = []

    def body(c):
        log.append(c)
        return c + len(log)

    return body


def appending_by_name(_):
    log: list = []
    append = log.append

    def body(c):
        append(1.0)
        return c * len(log)

    return body


def to_a_module_of_its_own(c):
    import somewhere  # type: ignore[import-not-found]

    somewhere.total[1] += 1.0
    return c + somewhere.total


def popping(_):
    queue = deque([1.0, 2.0, 3.0])
    return lambda c: c * queue.popleft()


def taking(make):
    def way(_):
        values = make()
        return lambda c: c * next(values)

    return way


def as_default(_):
    def body(c, log=[]):  # noqa: B006
        log.append(1.0)
        return c * len(log)

    return body


def of_the_function_itself(_):
    def body(c):
        body.n += 1
        return c * body.n

    body.n = 0
    return body


def generated():
    k = 0.0
    while True:
        k += 1.0
        yield k


def partly(log, c):
    log.append(1.0)
    return c * len(log)


WAYS = {
    "list of arrays": to_a_list_of_arrays,
    "dict of arrays": to_a_dict_of_arrays,
    "attribute": to_an_attribute,
    "in place in a list": in_place_in_a_list,
    "one number": of_one_number,
    "nonlocal": nonlocal_number,
    "integers": to_an_array_of_integers,
    "large array": to_a_large_array,
    "view": to_a_view,
    "append": appending,
    "append by name": appending_by_name,
    "deque": popping,
    "global array": lambda _: to_global_array,
    "global number": lambda _: to_global_number,
    "helper": lambda _: by_a_helper,
    "module": lambda _: to_a_module,
    "module of its own": lambda _: to_a_module_of_its_own,
    "bytes": lambda _: lambda c, b=bytearray(3): (b.__setitem__(0, b[0] + 1), c * b[0])[1],  # noqa: B008
    "view of bytes": lambda _: lambda c, b=memoryview(bytearray(3)): (b.__setitem__(0, b[0] + 1), c * b[0])[1],  # noqa: B008
    "proxy": lambda _: lambda c, m=MappingProxyType({"a": np.zeros(2)}): c + np.add(m["a"], 1.0, out=m["a"]),  # noqa: B008
    "weak reference": lambda _: lambda c, r=weakref.ref(KEPT): r().add(c),  # noqa: B008
    "user list": lambda _: lambda c, many=UserList([1.0]): (many.append(1.0), c * len(many))[1],
    "method": lambda _: Counter().add,
    "array of a method": lambda _: Counter().add_to_array,
    "depth of a method": lambda _: Counter().add_deep,
    "class": lambda _: Counter().add_to_class,
    "class method": lambda _: Counter.make,
    "object that is called": lambda _: Counter(),
    "object in a list": lambda _: lambda c, many=[Counter()]: many[0].add(c),  # noqa: B008
    "slots": lambda _: Slots().add,
    "default": as_default,
    "function": of_the_function_itself,
    "partial": lambda _: functools.partial(partly, []),
    "count": taking(lambda: itertools.count(1)),
    "iterator": taking(lambda: iter([1.0, 2.0, 3.0])),
    "cycle": taking(lambda: itertools.cycle([1.0, 2.0])),
    "map": taking(lambda: map(float, [1, 2, 3])),
    "generator": taking(generated),
    "set": lambda _: lambda c, s=set(): (s.add(len(s)), c * len(s))[1],
}


@each_case("way", WAYS)
def test_the_body_of_a_loop_changes_nothing_from_outside(way):
    for options in ({}, {"until": lambda c: c[0] > 1e9}, {"rounds": True}):
        with pytest.raises(mb.TraceError, match="from outside it: let the loop carry"):
            mb.compile(lambda x, options=options: mb.loop(3, WAYS[way](x), x, **options), 2)


@each_case("way", sorted(WAYS.keys() - {"list of arrays", "attribute", "in place in a list", "one number"}))
def test_nor_does_the_step_of_a_scan(way):
    body = WAYS[way](None)
    with pytest.raises(mb.TraceError, match="from outside it: let the loop carry"):
        mb.compile_scan(lambda x: (body(x), None), 2)


def test_what_is_changed_is_named():
    counter = Counter()
    with pytest.raises(mb.TraceError, match=r"the body of a loop .* changes counter\.n, .*test_side_effects"):
        mb.compile(lambda x: mb.loop(3, lambda c: counter.add(c), x), 2)

    def step(x):
        SEEN.append(x)
        return x, None

    with pytest.raises(mb.TraceError, match=r"the step step .* changes SEEN, "):
        mb.compile_scan(step, 2)


def test_controllers_of_a_simulation_have_no_memory_of_their_own():
    class Integral:
        def __init__(self):
            self.sum = np.zeros(2)

        def __call__(self, t, q, v):  # noqa: ARG002
            self.sum = self.sum + q
            return -self.sum

    robot = mb.load("double-pendulum")
    simulator = mb.simulate.Simulator(robot, method="euler", controller=Integral())
    with pytest.raises(mb.TraceError, match=r"changes Integral\.sum, which is from outside"):
        simulator(robot.neutral(), np.zeros(2), seconds=0.01)


@each_case(
    "function",
    [
        lambda x, body: mb.fixed_point(lambda c: 0.1 * body(c), x),
        lambda x, body: mb.gradient(lambda y: np.sum(mb.loop(3, body, y)))(x),
        lambda x, body: mb.loop(2, lambda c: mb.loop(2, body, c), x),
        lambda x, body: mb.loop(3, lambda c: 2.0 * c, x, until=lambda c: body(c)[0] > 9.0),
        lambda x, body: mb.loop(3, lambda c: (c, body(c)), x, outputs=True)[1],
        lambda x, body: mb.loop(None, lambda c, u: body(c) + u, x, xs=np.ones((3, 2))),
    ],
    ids=["fixed point", "gradient", "nest", "until", "output", "rows"],
)
def test_wherever_the_body_is(function):
    with pytest.raises(mb.TraceError, match="from outside"):
        mb.compile(lambda x: function(x, Counter().add), 2)


# ---- what may be done ------------------------------------------------------------------------------------------------


class Lazy:
    """Keeps what it has computed, as it says."""

    @functools.cached_property
    def gain(self):
        return 2.0

    @staticmethod
    @functools.lru_cache
    def table(n):
        return np.arange(float(n))

    def run(self, c):
        logging.getLogger("multibody.test").debug("a round")
        own = {"list": []}
        own["list"].append(c)
        return self.gain * own["list"][0] + self.table(2)


def test_memories_that_say_so_and_own_things_may_change():
    np.testing.assert_array_equal(mb.compile(lambda x: mb.loop(2, Lazy().run, x), 2)([1.0, 2.0]), [4.0, 11.0])


def test_a_loop_of_plain_numbers_in_a_trace_is_a_loop_of_python():
    log: list = []

    def body(c):
        log.append(c)
        return c + 1.0

    assert mb.compile(lambda x: x * mb.loop(3, body, 0.0) * len(log), ())(2.0) == 18.0


def add_in_place(c):
    c += 1.0
    return c


def write_twice(c):
    a, b = c["a"], c["b"]
    a[0] += b
    b = b + a[1]
    return {"a": a, "b": b}


def doubled(x):
    x[1:] *= 2.0
    return x


BODIES = {
    "in place": lambda x: mb.loop(3, add_in_place, x),
    "until": lambda x: mb.loop(5, add_in_place, x, until=lambda c: doubled(c)[1] > 6.0),
    "dict": lambda x: mb.loop(3, write_twice, {"a": x, "b": 1.0})["a"],
    "row": lambda x: mb.loop(None, lambda c, u: c + doubled(u), x, xs=np.stack([x, x])),
    "twice": lambda x: mb.loop(2, lambda c: (add_in_place(c[0]), c[1]), (x, x))[1],
    "output": lambda x: mb.loop(3, lambda c: (add_in_place(c), c), x, outputs=True)[1],
    "result": lambda x: doubled(mb.loop(2, lambda c: c + 1.0, x)),
    "nest": lambda x: mb.loop(2, lambda c: add_in_place(mb.loop(2, doubled, c)), x),
}


@pytest.mark.parametrize("body", BODIES)
def test_what_a_body_is_handed_is_its_own(body):
    x = np.array([1.0, 2.0])
    expected = BODIES[body](x)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    np.testing.assert_array_equal(mb.compile(BODIES[body], 2)(x), expected)


def test_a_scan_within_a_function_hands_its_parameters_out_anew():
    def step(x, p):
        p["k"] = p["k"] * 2.0
        return x + p["k"], None

    scan = mb.compile_scan(step, (), (), [{"k": ()}])

    def function(x, k):
        p = {"k": k}
        return scan(x, p, steps=3)[0] + p["k"]

    assert mb.compile(function, (), ())(1.0, 2.0) == 15.0 == scan(1.0, {"k": 2.0}, steps=3)[0] + 2.0
