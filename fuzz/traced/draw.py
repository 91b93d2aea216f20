"""Random bodies of kernels: what people write in Python, whether a trace can take it or not."""

from random import Random

_FRAGMENTS = ("x", "y", "z")
_INTEGERS = ("i", "n", "s")

#: Features of a program beyond variables, loops, branches and functions. Most programs have few.
_FEATURES = (
    *("attribute", "element", "structure", "iterator", "generator", "early", "helper", "static"),
    *("comprehension", "finally", "choice", "choice", "repeat"),
)

#: How many features a program has.
_NUMBERS = (0, 1, 1, 2, 2, 3)

#: The least depth of loops, branches and functions at which nothing nests further.
_DEPTH = 3


def draw(random: Random) -> str:
    """Draw the body of a kernel."""
    features = frozenset(random.sample(_FEATURES, random.choice(_NUMBERS)))
    return "\n".join(_Drawing(random, features).block(random.randint(2, 5), 0, "kernel")) + "\n"


class _Drawing:
    """A body while it is drawn.

    Attributes:
        random: chooses.
        features: what the program may have.
        helpers: the functions defined so far.
        in_helper: whether statements are those of a helper.
    """

    def __init__(self, random: Random, features: frozenset[str]) -> None:
        self.random = random
        self.features = features
        self.helpers = 0
        self.in_helper = False

    def block(self, count: int, depth: int, inside: str) -> list[str]:
        """Draw statements; `inside` is the innermost thing that an early exit would leave."""
        lines = [line for _ in range(count) for line in self._statement(depth, inside)]
        return lines or ["pass"]

    def _statement(self, depth: int, inside: str) -> list[str]:
        if self.features and self.random.random() < 0.5:
            feature = self.random.choice(sorted(self.features))
            return getattr(self, f"_{feature}")(depth, inside)
        return self._plain(depth, inside)

    # -- variables, loops, branches ------------------------------------------------------------------

    def _plain(self, depth: int, inside: str) -> list[str]:
        random = self.random
        kind = random.randrange(9 if depth < _DEPTH else 5)
        if kind < 2:
            return [f"{random.choice(_FRAGMENTS)} = bounded({self._fragment(2)})"]
        if kind == 2:
            return [self._count()]
        if kind == 3:
            changed = (
                "both = [both[1], bounded(both[0] + x)]",
                "bump(1.0)",
                "y = x",
                "z = both[0]",
            )
            return [random.choice(changed)]
        if kind == 4:
            name, other = random.sample(_FRAGMENTS, 2)
            reduced = f"{other}.{random.choice(('max', 'min'))}(axis={random.randrange(2)})"
            return [f"{name} = bounded({other} - {reduced})"]
        if kind == 5:
            body = self._body(depth, inside if inside == "kernel" else "unrolled")
            return [f"for q{depth} in range({random.randint(0, 2)}):", *body]
        if kind == 6:
            return self._branch(depth, inside)
        return [f"for k{depth} in sl.range({self._stop()}):", *self._body(depth, "loop")]

    def _branch(self, depth: int, inside: str) -> list[str]:
        lines = [f"with sl.when({self._condition()}):", *self._body(depth, inside)]
        if self.random.random() < 0.5:
            lines += ["with sl.otherwise():", *self._body(depth, inside)]
        return lines

    def _body(self, depth: int, inside: str) -> list[str]:
        lines = self.block(self.random.randint(1, 3), depth + 1, inside)
        return ["    " + line for line in lines]

    # -- state that is no variable -----------------------------------------------------------------

    def _attribute(self, depth: int, inside: str) -> list[str]:
        step, fragment = (
            self.random.choice(("1", "2", "n % 3", "sl.block_id(0)")),
            self._fragment(1),
        )
        forms = (
            (f"state.n = (state.n + {step}) % 7",),
            ("pair.n = (pair.n * 2 + 1) % 5",),
            ("state.n += 1",),
            (f"state.x = bounded({fragment})",),
            (f"pair.a = bounded({fragment} + pair.a)",),
            ("state.x, pair.a = pair.a, state.x",),
            (f"alias.n = (alias.n + {step}) % 9",),
            (f"record.n = (record.n + {step}) % 4",),
            (f"tally({step})",),
            ("fresh = State()", "fresh.x = bounded(x + 1.0)", "y = fresh.x"),
            ("y = bounded(state.x + pair.a)",),
            ("n = (n + state.n) % 9",),
        )
        return list(self.random.choice(forms))

    def _element(self, depth: int, inside: str) -> list[str]:
        place, fragment = self.random.randrange(2), self._fragment(1)
        forms = (
            f"both[{place}] = bounded({fragment})",
            f"both[0], both[1] = both[1], bounded({fragment})",
            f'table["x"] = bounded({fragment})',
            'table["n"] = (table["n"] + 1) % 5',
            f"counts[{place}] += 1",
            f"counts[{place}] = counts[{1 - place}]",
            "record.values[0] += 1",
            f"record.values[1] = bounded({fragment})",
            "note(1)",
            'y = bounded(y + table["x"])',
        )
        return [self.random.choice(forms)]

    def _structure(self, depth: int, inside: str) -> list[str]:
        number, fragment = self.random.randrange(3), self._fragment(1)
        forms = (
            "log.append(1.0)",
            f"seen.add({number})",
            f'table["k"] = bounded({fragment})',
            'table.pop("k", None)',
            "log = log + [1.0]",
            "push(2.0)",
            "counts.append(3)",
            "log.clear()",
            "x = bounded(x + float(len(log)))",
        )
        return [self.random.choice(forms)]

    def _iterator(self, depth: int, inside: str) -> list[str]:
        forms = (
            "x = bounded(x + float(next(numbers)))",
            "n = (n + next(walk)) % 9",
            "y = bounded(y + float(next(iter([1, 2]))))",
            "next(numbers)",
        )
        return [self.random.choice(forms)]

    def _generator(self, depth: int, inside: str) -> list[str]:
        if depth >= _DEPTH:
            return self._iterator(depth, inside)
        if self.random.random() < 0.5:
            return [
                f"for q{depth} in twice({self.random.randint(0, 2)}):",
                *self._body(depth, "unrolled"),
            ]
        return [f"for k{depth} in counted({self._stop()}):", *self._body(depth, "loop")]

    # -- control -----------------------------------------------------------------------------------

    def _early(self, depth: int, inside: str) -> list[str]:
        leave = {
            "kernel": ("return",),
            "helper": ("return v", "return bounded(v + 1.0)"),
            "loop": ("continue", "continue", "break", "return v" if self.in_helper else "return"),
            "unrolled": ("continue", "break"),
        }[inside]
        if self.random.random() < 0.4:
            static = self.random.choice(("flag", "not flag", "len(log) > 1", "counts == [1, 2]"))
            return [f"if {static}:", f"    {self.random.choice(leave)}"]
        before = [f"    {line}" for line in self._plain(_DEPTH, inside)][: self.random.randrange(2)]
        if self.random.random() < 0.6:
            return [f"if {self._test()}:", *before, f"    {self.random.choice(leave)}"]
        return [f"with sl.when({self._condition()}):", *before, f"    {self.random.choice(leave)}"]

    def _choice(self, depth: int, inside: str) -> list[str]:
        """Draw an `if` statement, or an expression, on conditions of the kernel."""
        random = self.random
        if depth >= _DEPTH or random.random() < 0.3:
            one, two = random.sample(_FRAGMENTS, 2)
            forms = (
                f"{one} = bounded({self._fragment(1)} if {self._test()} else {two})",
                f"n = (i if {self._test()} else n + 1) % 9",
                f"i = min(i, n, {random.randint(1, 5)}) + max(i, n) % 2",
                f"n = min([{random.randint(1, 6)}, i, 2]) if i < n else 3",
                f"flag = not ({self._test()})",
                "n = (i and n) or 1",
                f"{one} = bounded(max({one}, {two}))",
            )
            return [random.choice(forms)]
        lines = [f"if {self._test()}:", *self._body(depth, inside)]
        if random.random() < 0.3:
            lines += [f"elif {self._test()}:", *self._body(depth, inside)]
        if random.random() < 0.5:
            lines += ["else:", *self._body(depth, inside)]
        return lines

    def _repeat(self, depth: int, inside: str) -> list[str]:
        """Draw a loop that ends by a condition, or has a bound of the kernel."""
        if depth >= _DEPTH:
            return self._plain(depth, inside)
        random, number = self.random, f"t{depth}"
        body = self._body(depth, "loop")
        if random.random() < 0.3:
            loop = [f"for {number} in range({random.choice(('n', 'i', 'n % 3 + 1'))}):", *body]
        elif random.random() < 0.3:
            stop = [f"    if {number} > {random.randint(1, 4)}:", "        break"]
            loop = [f"{number} = 0", "while True:", f"    {number} = {number} + 1", *stop, *body]
        else:
            test = f"{number} < {self._stop()}"
            test += f" and {self._test()}" if random.random() < 0.4 else ""
            loop = [f"{number} = 0", f"while {test}:", f"    {number} += 1", *body]
        if random.random() < 0.2:
            loop += ["else:", *self._body(depth, inside)]
        return loop

    def _helper(self, depth: int, inside: str) -> list[str]:
        if depth >= _DEPTH:
            return self._plain(depth, inside)
        name = f"helper{self.helpers}"
        self.helpers += 1
        outer, self.in_helper = self.in_helper, True
        body = ["w = v", *self.block(self.random.randint(1, 2), depth + 1, "helper")]
        self.in_helper = outer
        # A function that assigns a name has it as a variable of its own; it takes those of the kernel.
        names = "x, y, z, i, n, s, both, log, flag, mode"
        target = self.random.choice(_FRAGMENTS)
        return [
            f"def {name}(v, {names}):",
            *(f"    {line}" for line in body),
            "    return bounded(v + x + w)",
            f"{target} = {name}({self.random.choice(_FRAGMENTS)}, {names})",
        ]

    def _static(self, depth: int, inside: str) -> list[str]:
        if depth >= _DEPTH or self.random.random() < 0.5:
            forms = (
                "flag = not flag",
                'mode = "bb"',
                "flag = True",
                "x = bounded(x + float(len(mode)))",
            )
            return [self.random.choice(forms)]
        test = self.random.choice(
            ("flag", 'mode == "a"', "len(log) > 0", "counts[0] == 1", "n > 3", "i")
        )
        return [f"if {test}:", *self._body(depth, inside)]

    def _comprehension(self, depth: int, inside: str) -> list[str]:
        forms = (
            ("both = [bounded(one + 1.0) for one in both]",),
            (f"for k{depth}, one in zip(sl.range(2), (1.0, 2.0)):", "    x = bounded(x + one)"),
            ("terms = [bounded(x + 1.0) for k in sl.range(2)]", "y = terms[-1]"),
            ("n = (n + len([k for k in sl.range(3)])) % 9",),
            (f"for k{depth} in sl.range(2):", "    x = bounded(x + 1.0)", "else:", "    y = x"),
            ("x, y = (bounded(one + 2.0) for one in (y, x))",),
        )
        return list(self.random.choice(forms))

    def _finally(self, depth: int, inside: str) -> list[str]:
        if depth >= _DEPTH:
            return self._plain(depth, inside)
        if self.random.random() < 0.5:
            return ["with contextlib.nullcontext():", *self._body(depth, inside)]
        return ["try:", *self._body(depth, inside), "finally:", "    z = bounded(z + 1.0)"]

    # -- expressions -------------------------------------------------------------------------------

    def _stop(self) -> str:
        return self.random.choice(("0", "1", "2", "3", "n % 3", "sl.block_id(0)", "i % 2 + 1"))

    def _fragment(self, depth: int) -> str:
        random = self.random
        if depth == 0 or random.random() < 0.2:
            return random.choice((*_FRAGMENTS, "both[0]", "both[1]"))
        one, two = self._fragment(depth - 1), self._fragment(depth - 1)
        return random.choice(
            (
                f"({one} + {two})",
                f"({one} - 3.0)",
                f"sl.maximum({one}, {two})",
                f"sl.where({one} > {two}, {two}, {one} + 2.0)",
                f"sl.where(sl.iota({random.randrange(2)}) < {random.choice(_INTEGERS)}, {one}, {two})",
                f"(-{one})",
            )
        )

    def _count(self) -> str:
        random = self.random
        name, other = random.choice(_INTEGERS), random.choice(_INTEGERS)
        if name == "s":
            return random.choice(
                ("s = (s - 3) % 7 - 2", f"s = s // 2 - {other} % 3", "s = 1 - s % 5")
            )
        step = random.choice(("1", "2", f"{other} % 4", "sl.block_id(0)"))
        return f"{name} = ({name} + {step}) % {random.randint(3, 9)}"

    def _test(self) -> str:
        """Draw a condition as Python has them."""
        random = self.random
        kind = random.randrange(8)
        if kind == 0:
            return f"({self._test()} {random.choice(('and', 'or'))} {self._test()})"
        if kind == 1:
            return f"not ({self._test()})"
        if kind == 2:
            first, second = random.choice(("<", "!=")), random.choice(("<=", "<"))
            return f"0 <= i {first} sl.block_id(0) + 1 {second} n"
        if kind == 3:
            return random.choice(("i", "n % 3", "flag and i", "state.n > 1", "counts[0] < n"))
        return self._condition()

    def _condition(self) -> str:
        random = self.random
        one, two = random.choice(_INTEGERS), random.choice((*_INTEGERS, "1", "3"))
        simple = (
            f"({one} + sl.block_id(0) {random.choice(('<', '<=', '==', '!=', '>', '>='))} {two})"
        )
        return f"{simple} & ({self._condition()})" if random.random() < 0.2 else simple
