"""Random starts of stages: what `smem-check-async` says of them, against all values that they have."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from test_check_async import messages_of

STAGES = 3

KERNEL = """
!s = !smem.tile<tensor<3x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @f(%m: !m) attributes {{
  known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 3, 1, 1>
}} {{
  %warpgroup = arith.constant 128 : index
  %thread = gpu.thread_id x
  %v0 = arith.divui %thread, %warpgroup : index
  %v1 = gpu.block_id x
  %s = "smem.alloc"() : () -> !s
  {body}
  return
}}
"""

#: Binary ops and their results for Python integers; None where the op has none.
OPS = {
    "addi": lambda x, y: x + y,
    "subi": lambda x, y: x - y,
    "muli": lambda x, y: x * y,
    "divui": lambda x, y: x // y if x >= 0 and y > 0 else None,
    "floordivsi": lambda x, y: x // y if y > 0 else None,
    "ceildivui": lambda x, y: -(-x // y) if x >= 0 and y > 0 else None,
    "remui": lambda x, y: x % y if x >= 0 and y > 0 else None,
    "remsi": lambda x, y: (abs(x) % y) * (1 if x >= 0 else -1) if y > 0 else None,
    "minsi": min,
    "maxsi": max,
    "andi": lambda x, y: x & y,
    "shrui": lambda x, y: x >> y if x >= 0 and 0 <= y < 64 else None,
}
PREDICATES = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "slt": lambda x, y: x < y,
    "sle": lambda x, y: x <= y,
    "sgt": lambda x, y: x > y,
    "ult": lambda x, y: x % 2**64 < y % 2**64,
    "uge": lambda x, y: x % 2**64 >= y % 2**64,
}


@dataclass
class Program:
    """A kernel, built and executed together: an environment for each thread and iteration.

    Attributes:
        environments: the values of the names, for each execution of the current position.
    """

    source: random.Random
    environments: list[dict[str, int]]
    lines: list[str] = field(default_factory=list)
    constants: set[str] = field(default_factory=set)
    count: int = 2

    def name(self, values):
        name = f"%v{self.count}"
        self.count += 1
        for environment, value in zip(self.environments, values, strict=True):
            environment[name] = value
        return name

    def constant(self, number):
        name = self.name([number] * len(self.environments))
        self.constants.add(name)
        self.lines.append(f"{name} = arith.constant {number} : index")
        return name

    def any(self):
        known = [f"%v{i}" for i in range(self.count) if self.is_known(f"%v{i}")]
        return self.source.choice(known[-4:] + known[:2])

    def is_known(self, name):
        return all(name in environment for environment in self.environments)

    def compute(self):
        op = self.source.choice(list(OPS))
        left = self.any()
        right = (
            self.any() if self.source.random() < 0.3 else self.constant(self.source.randint(1, 6))
        )
        values = [
            OPS[op](environment[left], environment[right]) for environment in self.environments
        ]
        if None in values:
            return
        name = self.name(values)
        self.lines.append(f"{name} = arith.{op} {left}, {right} : index")

    def compare(self):
        predicate = self.source.choice(list(PREDICATES))
        left, right = self.any(), self.constant(self.source.randint(0, 8))
        holds = [
            PREDICATES[predicate](environment[left], environment[right])
            for environment in self.environments
        ]
        condition = f"%c{self.count}"
        self.count += 1
        self.lines.append(f"{condition} = arith.cmpi {predicate}, {left}, {right} : index")
        return condition, holds

    def block(self, depth):
        """Emit some ops and an access; return the starts of stages that are accessed."""
        for _ in range(self.source.randint(1, 4)):
            self.compute()
        if self.source.random() < 0.3:
            self.select()
        starts = []
        if depth and self.source.random() < 0.8:
            starts += self.source.choice((self.loop, self.branch, self.carry))(depth - 1)
        if not starts or self.source.random() < 0.3:
            starts += self.access()
        return starts

    def select(self):
        condition, holds = self.compare()
        yes, no = self.any(), self.any()
        name = self.name(
            [
                environment[yes if taken else no]
                for environment, taken in zip(self.environments, holds, strict=True)
            ]
        )
        self.lines.append(f"{name} = arith.select {condition}, {yes}, {no} : index")

    def access(self):
        start = self.any()
        while start in self.constants:
            start = self.source.choice(("%v0", "%v1"))
        stage = f"%t{len(self.lines)}"
        self.lines += [
            f'{stage} = "smem.stage"(%s, {start}) : (!s, index) -> !t',
            f'"smem.copy"(%m, {stage}) : (!m, !t) -> ()',
            "gpu.barrier",
        ]
        return [environment[start] for environment in self.environments]

    def inside(self, environments, depth):
        outer, self.environments = self.environments, environments
        # Names of the body are unknown after it.
        before = [set(environment) for environment in outer]
        starts = self.block(depth)
        self.environments = outer
        for environment, names in zip(outer, before, strict=True):
            for name in set(environment) - names:
                del environment[name]
        return starts

    def branch(self, depth):
        condition, holds = self.compare()
        self.lines.append(f"scf.if {condition} {{")
        taken = [dict(e) for e, t in zip(self.environments, holds, strict=True) if t]
        starts = self.inside(taken, depth) if taken else self.dead()
        self.lines.append("} else {")
        other = [dict(e) for e, t in zip(self.environments, holds, strict=True) if not t]
        starts += self.inside(other, depth) if other else self.dead()
        self.lines.append("}")
        return starts

    def dead(self):
        self.lines.append("gpu.barrier")
        return []

    def loop(self, depth):
        lower, step = (
            self.constant(self.source.randint(0, 2)),
            self.constant(self.source.randint(1, 2)),
        )
        upper = (
            self.any() if self.source.random() < 0.4 else self.constant(self.source.randint(1, 9))
        )
        variable = f"%v{self.count}"
        self.count += 1
        environments = [
            {**environment, variable: i}
            for environment in self.environments
            for i in range(environment[lower], min(environment[upper], 40), environment[step])
        ]
        self.lines.append(f"scf.for {variable} = {lower} to {upper} step {step} {{")
        starts = self.inside(environments, depth) if environments else self.dead()
        self.lines.append("}")
        return starts

    def carry(self, depth):
        """A loop that carries a number which begins again at a bound."""
        bound, step = self.source.randint(1, 10), self.source.randint(1, 3)
        zero, one, last = (
            self.constant(0),
            self.constant(1),
            self.constant(self.source.randint(1, 20)),
        )
        increment, end = self.constant(step), self.constant(bound)
        names = [f"%v{self.count + i}" for i in range(2)]
        self.count += 2
        result = f"%r{self.count}"
        environments = []
        for environment in self.environments:
            carried = 0
            for i in range(environment[last]):
                environments.append({**environment, names[0]: i, names[1]: carried})
                carried = 0 if carried + step >= bound else carried + step
        self.lines.append(
            f"{result} = scf.for {names[0]} = {zero} to {last} step {one} "
            f"iter_args({names[1]} = {zero}) -> (index) {{"
        )
        starts = self.inside(environments, depth)
        number = len(self.lines)
        self.lines += [
            f"%n{number} = arith.addi {names[1]}, {increment} : index",
            f"%w{number} = arith.cmpi sge, %n{number}, {end} : index",
            f"%x{number} = arith.select %w{number}, {zero}, %n{number} : index",
            f"scf.yield %x{number} : index",
            "}",
        ]
        return starts


@pytest.mark.parametrize("seed", range(200))
def test_an_error_is_a_run_and_silence_a_proof(seed):
    source = random.Random(seed)
    warpgroups = source.randint(1, 4)
    program = Program(
        source, [{"%v0": w, "%v1": block} for w in range(warpgroups) for block in range(3)]
    )
    starts = program.block(depth=2)
    body = "\n  ".join(program.lines)
    messages = messages_of(KERNEL.format(threads=128 * warpgroups, body=body))
    outside = [start for start in starts if not 0 <= start < STAGES]
    errors = [m for m in messages if "begins at stage" in m and "cannot prove" not in m]
    remarks = [m for m in messages if "is within the smem.alloc" in m]
    if errors:
        assert outside, errors
        assert any(f"begins at stage {start}," in errors[0] for start in outside)
    elif not remarks:
        assert not outside, body
