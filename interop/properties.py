"""Properties of newer versions that are discardable attributes in older ones.

An older parser ignores a property in `<{...}>` that it does not know, so these move into the attributes
of the op, which follow its regions: `"gpu.func"() <{sym_name = "f"}> ({...})` becomes
`"gpu.func"() <{}> ({...}) {sym_name = "f"}`.
"""

import re

#: Each op with the property that an older version has as an attribute.
#: The name of gpu.func moved during the development of LLVM 24.
_MOVED = {"gpu.func": "sym_name"}

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[()]')


def move_to_attributes(text: str) -> str:
    """Return the text of a module in the generic form with these properties as attributes."""
    for op, name in _MOVED.items():
        pattern = re.compile(
            rf'(?P<op>"{re.escape(op)}"\(\) <{{)(?P<before>[^\n]*?)'
            rf'(?:, )?(?P<moved>\b{name} = "(?:[^"\\\n]|\\.)*")(?P<rest>[^\n]*?}}> )(?=\()'
        )
        position = 0
        while match := pattern.search(text, position):
            end = _closing_bracket_end(text, match.end())
            suffix = match["rest"] if match["before"] else match["rest"].removeprefix(", ")
            after = text[end:]
            attributes = (
                f" {{{match['moved']}, {after[2:]}"
                if after.startswith(" {")
                else f" {{{match['moved']}}}{after}"
            )
            head = f"{match['op']}{match['before']}{suffix}"
            text = f"{text[: match.start()]}{head}{text[match.end() : end]}{attributes}"
            position = match.start() + len(head)
    return text


def _closing_bracket_end(text: str, start: int) -> int:
    """Return the position after the bracket that closes the one at `start`."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(text)
