"""Random command lines of `smem-layout`: each gets an answer or one message, never a traceback.

An input has one argument per line, as JSON; `map:SHAPE:STRIDES:DTYPE` stands for a `.npy` file with that
map.
"""

import argparse
import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from random import Random

import numpy as np

from mlir_smem.layout import ELEMENTS, Arch
from mlir_smem.layout.elements import NARROW
from mlir_smem.layout.tcgen05 import KINDS, SCALE_ELEMENTS
from mlir_smem.tools import smem_layout as command

from .frame import Fuzzer, Wrong, main

_ELEMENTS = [*ELEMENTS, *NARROW, *SCALE_ELEMENTS]

#: Text that no message may contain.
_FORBIDDEN = ("Traceback", "object at 0x", "<class '", "NotImplemented")

#: The parser is built once: building it takes longer than most answers.
_parser = cache(command.arguments)


# -- drawing ---------------------------------------------------------------------------------------


def draw(random: Random) -> str:
    """Draw a command line."""
    name = random.choice([*command.COMMANDS])
    actions = {action.dest: action for action in _actions(name)}
    arguments = _usual(random, name)
    for dest, action in actions.items():
        if random.random() < (0.05 if dest in arguments else 0.08):
            arguments[dest] = _value(random, action)
        elif random.random() < 0.02:
            arguments.pop(dest, None)
    words = [_words(random, actions[dest], value) for dest, value in arguments.items()]
    if random.random() < 0.1:
        words.append(["--json"])
    random.shuffle(words)
    flat = [name, *(word for group in words for word in group)]
    if random.random() < 0.03:
        flat[random.randrange(len(flat))] = _text(random)
    return "".join(f"{json.dumps(word)}\n" for word in flat)


@cache
def _actions(name: str) -> tuple[argparse.Action, ...]:
    """The arguments of a command."""
    parser = argparse.ArgumentParser(add_help=False)
    command.COMMANDS[name].add_arguments(parser)
    return tuple(parser._actions)


def _usual(random: Random, name: str) -> dict[str, str]:
    """Draw arguments that fit each other."""
    element = random.choice(_ELEMENTS if random.random() < 0.2 else [*ELEMENTS])
    tile = {"element": element, "layout": _layout(random)}
    if random.random() < 0.2:
        tile = {"element": element, "shape": "64,128", "strides": _extents(random)}
    if random.random() < 0.05:
        tile = {"element": element, "map": _map(random)}
    k, n = 32 * random.randrange(1, 9), 8 * random.randrange(1, 33)
    usual = {
        "choose": {
            "a": f"{64 * random.randrange(1, 5)}x{k}x{element}",
            "b": f"{k}x{n}x{element}",
        },
        "decode": {"descriptor": _descriptor(random)},
        "diagnose": {"descriptor": _descriptor(random), **tile},
        "encode": random.choice((tile, {"lbo": "16", "sbo": _number(random)})),
        "match": tile,
        "plot": {
            "output": "a.svg",
            **random.choice(
                (
                    {"tile": f"{random.randrange(1, 65)}x{k // 4}x{element}"},
                    {"layout": _of_atoms(random), "element": element},
                    {"accumulator": f"{random.choice((64, 128, 256))}x{n}"},
                )
            ),
        },
    }
    return dict(usual.get(name, {}))


def _words(random: Random, action: argparse.Action, value: str) -> list[str]:
    """The words of an argument."""
    if not action.option_strings:
        return [value]
    flag = random.choice(action.option_strings)
    if action.nargs == 0 or (action.nargs == "?" and random.random() < 0.4):
        return [flag]
    # A value that begins with a dash needs the form --flag=value.
    return [f"{flag}={value}"] if value[:1] == "-" and flag[:2] == "--" else [flag, value]


def _value(random: Random, action: argparse.Action) -> str:
    if random.random() < 0.02:
        return _text(random)
    if action.choices and random.random() < 0.97:
        return str(random.choice([*action.choices]))
    return _VALUES.get(action.dest, _number)(random)


def _number(random: Random) -> str:
    chance = random.random()
    if chance < 0.9:
        return str(random.choice((0, 1, 2, 3, 4, 8, 16, 32, 48, 64, 96, 128, 256, 512, 1024)))
    if chance < 0.95:
        return str(random.randrange(1 << random.randrange(1, 80)))
    return random.choice(_ABSURD)


#: Invalid and very large numbers.
_ABSURD = (
    "-1", "4294967295", "4294967296", "2147483648", "9223372036854775807", "18446744073709551615",
    "18446744073709551616", "1" + "0" * 40, "1" * 5000, "0x", "0xffffffffffffffff", "1e3", "1.5", "",
    " 8 ", "+1", "1_000", "٣", "²", "nan", "0b1", "007", "1,", ",", "64ull", "--",
)  # fmt: skip


def _extent(random: Random) -> str:
    chance = random.random()
    if chance < 0.6:
        return str(random.choice((1, 2, 3, 4, 7, 8, 16, 24, 32, 48, 64, 96, 128, 136, 192, 256)))
    if chance < 0.985:
        return str(random.randrange(1, 100))
    return str(random.choice((0, 1000, 4096, 20000, 65536, 1 << 20, 1 << 31, 1 << 40, 1 << 63)))


def _layout(random: Random) -> str:
    """Draw a layout in CuTe's notation."""
    swizzle = random.choice(
        ("", "", "Swizzle<3,4,3> o ", "Swizzle<2,4,3> o ", "Sw<1,4,3> o ", "Swizzle<0,4,3>o")
    )
    if random.random() < 0.04:
        swizzle = f"Swizzle<{_number(random)},{_number(random)},{_number(random)}> o "
    rank = random.choice((1, 2, 2, 2, 2, 2, 2, 3, 4))
    if random.random() < 0.75:
        return swizzle + _of_atoms(random)
    extents, strides = [], []
    for _ in range(rank):
        depth = random.choice((1, 1, 2, 2, 3))
        extents.append([_extent(random) for _ in range(depth)])
        strides.append([_extent(random) for _ in range(depth)])
    if random.random() < 0.03:
        strides.pop()
    text = f"{_notation(extents)}:{_notation(strides)}"
    if random.random() < 0.01:
        return "(" * random.choice((50, 5000)) + text
    if random.random() < 0.05:
        position = random.randrange(len(text))
        text = (
            text[:position] + random.choice("(),:x_ o-%") + text[position + random.randrange(2) :]
        )
    return swizzle + text


def _of_atoms(random: Random) -> str:
    """Draw a layout that is canonical or almost canonical."""
    line = random.choice((8, 16, 32, 64, 128))
    rows, columns = random.choice((1, 2, 8, 16, 17)), random.choice((1, 2, 4))
    group = 8 * line
    modes = random.choice(
        (
            f"((8,{rows}),({line},{columns})):(({line},{group}),(1,{group * rows}))",
            f"((8,{rows}),({line},{columns})):(({line},{group * columns}),(1,{group}))",
            f"(({line},{columns}),(8,{rows})):((1,{group}),({line},{group * columns}))",
            f"({8 * rows},{line}):({line},1)",
            f"({line},{8 * rows}):(1,{line})",
            f"({rows},{8 * rows},{line}):({group * rows},{line},1)",
        )
    )
    if random.random() < 0.3:
        numbers = list(re.finditer(r"\d+", modes))
        match = random.choice(numbers)
        modes = modes[: match.start()] + _extent(random) + modes[match.end() :]
    return modes


def _notation(dims: list[list[str]]) -> str:
    entries = [dim[0] if len(dim) == 1 else f"({','.join(dim)})" for dim in dims]
    return f"({','.join(entries)})"


def _tile(random: Random) -> str:
    extents = [_extent(random) for _ in range(random.choice((2, 2, 2, 2, 3, 1, 4)))]
    return "x".join([*extents, random.choice(_ELEMENTS)])


def _extents(random: Random) -> str:
    return ",".join(_extent(random) for _ in range(random.choice((2, 2, 2, 3, 1))))


def _descriptor(random: Random) -> str:
    """Draw a descriptor: random bits, or fields of legal sizes."""
    if random.random() < 0.3:
        return hex(random.getrandbits(64))
    bits = random.randrange(1 << 14) | random.choice((1, 2, 4, 64, 512)) << 16
    bits |= random.choice((8, 16, 32, 64, 128)) << 32 | random.randrange(8) << 61
    bits |= random.choice((0, 0, 1 << 46)) | random.choice((0, 0, random.randrange(8))) << 49
    return random.choice((hex, str))(bits)


def _map(random: Random) -> str:
    shape = _extents(random)
    dtype = random.choice(("int64", "int32", "uint8", "uint64", "float32", "bool"))
    return f"map:{shape}:{_extents(random)}:{dtype}"


def _text(random: Random) -> str:
    return "".join(
        random.choice("aZ09 -=,:()<>x%é\u0663\x00\n\\'\"") for _ in range(random.randrange(8))
    )


def _loads(random: Random) -> str:
    return ",".join(random.choices(("tma", "16-byte", "ldmatrix", "", "tm"), (9, 9, 9, 1, 1), k=2))


#: How the value of each argument is drawn; other arguments are numbers.
_VALUES = {
    "layout": _layout,
    "tile": _tile,
    "a": _tile,
    "b": _tile,
    "load": _loads,
    "load_a": _loads,
    "load_b": _loads,
    "shape": _extents,
    "strides": _extents,
    "k_steps": _extents,
    "at": lambda random: random.choice((_extents, _number))(random),
    "descriptor": _descriptor,
    "instruction": lambda random: hex(random.getrandbits(random.choice((8, 32, 32, 32, 33)))),
    "accumulator": lambda random: f"{_extent(random)}x{_extent(random)}",
    "map": _map,
    "element": lambda random: random.choice(_ELEMENTS),
    "scaled": lambda random: random.choice([*SCALE_ELEMENTS]),
    "kind": lambda random: random.choice([*KINDS]),
    "arch": lambda random: str(random.choice([*Arch])),
    "max_swizzle": lambda random: random.choice(("0", "32", "64", "128", "128", "16")),
    "output": lambda random: random.choice(("a.svg", "a.svg", "a.png", "-", "no/a.svg", "a", ".")),
}


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> None:
    """Check that a command line gets an answer or a message.

    Raises:
        Wrong: if it gets neither.
        Exception: what the command raised.
    """
    words = [json.loads(line) for line in text.splitlines()]
    arguments = [_resolve_map(word) for word in words]
    code, out, errors = run(arguments)
    if "internal error" in errors:
        run(["--debug", *arguments])
        raise Wrong("internal error", "not with --debug", errors)
    where = words[0] if words and words[0] in command.COMMANDS else "smem-layout"
    for word in _FORBIDDEN:
        if word in errors:
            raise Wrong(f"message with '{word}'", where, errors)
    if code == 0:
        if errors:
            raise Wrong("success with a message", where, errors)
        if "--json" in words and "--help" not in words and "-h" not in words and out:
            json.loads(out)
    elif code != 1:
        raise Wrong(f"exit code {code}", where, errors)
    elif out or "error: " not in errors.partition("\n")[0]:
        raise Wrong("failure without a message", where, out + errors)


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Run the command; return exit code, output and messages."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    command.arguments = _parser
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            code = command.smem_layout(arguments)
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
    output, messages = (stream.buffer.getvalue().decode() for stream in (out, errors))
    return code, output, messages


def _resolve_map(word: str) -> str:
    """An argument, with `map:` replaced by the name of a file."""
    match = re.search(r"\bmap:([\d,]+):([\d,]+):(\w+)$", word)
    return word.replace(match[0], _map_file(*match.groups())) if match else word


@cache
def _map_file(shape: str, strides: str, dtype: str) -> str:
    """Write a map to a file; return its name."""
    extents = [min(int(extent), 300) for extent in shape.split(",")]
    steps = [int(stride) % (1 << 64) for stride in strides.split(",")]
    places = np.zeros(extents, np.uint64)
    for dim, (extent, step) in enumerate(zip(extents, steps, strict=False)):
        along = np.arange(extent, dtype=np.uint64) * np.uint64(step)
        places += along.reshape(-1, *[1] * (len(extents) - dim - 1))
    name = f"{shape}-{strides[:40]}-{dtype}.npy"
    np.save(name, places.astype(dtype))
    return name


FUZZER = Fuzzer("layout", draw, check, suffix=".args", lifetime=20000)

if __name__ == "__main__":
    main(FUZZER)
