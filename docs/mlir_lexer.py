"""A Pygments lexer of MLIR, which distinguishes ops, values, types and strings."""

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text


class MlirLexer(RegexLexer):
    """The generic and the custom form of MLIR."""

    name = "MLIR"
    aliases: ClassVar = ["mlir"]
    filenames: ClassVar = ["*.mlir"]
    tokens: ClassVar = {
        "root": [
            (r"//.*$", Comment.Single),
            (r'"[a-z_]+\.[\w.]+"(?=\()', Name.Function),
            (r'"(?:[^"\\]|\\.)*"', String),
            (r"%[\w$.:#-]+", Name.Variable),
            (r"@[\w$.-]+|\^\w+", Name.Label),
            (r"[!#][a-zA-Z_][\w.]*", Keyword.Type),
            (r"\b(?:tensor|memref|vector)(?=<)|\b(?:[su]?i\d+|b?f\d+|tf32|index)\b", Keyword.Type),
            (r"[a-z_]+\.[a-z_][\w.]*", Name.Function),
            (r"0x[0-9a-fA-F]+|-?\d[\d.]*(?:[eE][+-]?\d+)?", Number),
            (r"->|[=*+:-]", Operator),
            (r"[\[\](){}<>,?]", Punctuation),
            (r"[\w$]+", Name),
            (r"\s+|.", Text),
        ]
    }
