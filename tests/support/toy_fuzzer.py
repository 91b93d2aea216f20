"""A fuzzer whose inputs are numbers; each of the first six fails in a different way."""

import os

from fuzz.frame import Fuzzer, Wrong, main


def draw(random):
    return "".join(f"{random.randrange(100)}\n" for _ in range(8))


def check(text):
    for number in map(int, text.split()):
        failures.get(number, lambda: None)()
    return "checked"


def wrong():
    raise Wrong("kind", "where", "message")


def raises():
    raise KeyError("missing")


def prints_and_exits():
    os.write(2, b"LLVM ERROR: bad input 7\n")
    os._exit(1)


def never_ends():
    while True:
        pass


failures = {
    1: raises,
    2: wrong,
    3: os.abort,
    4: prints_and_exits,
    5: never_ends,
    6: lambda: bytearray(8 << 30),
}

if __name__ == "__main__":
    main(Fuzzer("toy", draw, check, suffix=".txt", seconds=0.5))
