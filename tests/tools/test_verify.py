"""`--verify-diagnostics`: the expectations in comments, in mlir-opt's forms."""

import pytest

from mlir_smem.tools.diagnostics import Diagnostic
from mlir_smem.tools.verify import expectations, mismatches


def problems(source, *diagnostics):
    """Return the mismatches of diagnostics, given as (line, message) or (line, message, severity)."""
    reported = [
        Diagnostic(severity[0] if severity else "error", "f.mlir", line, 3 if line else 0, message)
        for line, message, *severity in diagnostics
    ]
    return mismatches(reported, source, "f.mlir")


# Positions.

ABOVE_AND_BELOW = """\
op
// expected-error@above {{first}}
// expected-error@above {{second}}
// expected-error@below {{third}}
// a comment that expects nothing
op
"""


@pytest.mark.parametrize(
    "source, lines",
    [
        ("op // expected-error {{x}}", [1]),
        ("\n\nop // expected-error {{x}}", [3]),
        ("// expected-error@+1 {{x}}\nop", [2]),
        ("// expected-error @+1 {{x}}\nop", [2]),
        ("// expected-error@+3 {{x}}", [4]),
        ("op\n// expected-error@-1 {{x}}", [1]),
        ("op\n\n// expected-error@-2 {{x}}", [1]),
        ("// expected-error@+0 {{x}}", [1]),
        ("// expected-error@unknown {{x}}", [0]),
        ("op\n// expected-error@above {{x}}", [1]),
        ("// expected-error@below {{x}}\nop", [2]),
        (ABOVE_AND_BELOW, [1, 1, 5]),
        ("// expected-error@below {{x}}\n// expected-note@below {{y}}\nop", [3, 3]),
    ],
)
def test_positions(source, lines):
    assert [e.line for e in expectations(source)] == lines


@pytest.mark.parametrize("severity", ["error", "warning", "remark", "note"])
def test_severities(severity):
    (expectation,) = expectations(f"// expected-{severity} {{{{text}}}}")
    assert (expectation.severity, expectation.text) == (severity, "text")


@pytest.mark.parametrize(
    "comment, text",
    [
        ("// expected-error {{a {b} c}}", "a {b} c"),
        ("// expected-error{{tight}}", "tight"),
        ("//expected-error@+1{{tight}}", "tight"),
        ("// expected-error {{}}", ""),
        ("// expected-error {{ends in }}}", "ends in }"),
    ],
)
def test_texts(comment, text):
    assert [e.text for e in expectations(comment)] == [text]


@pytest.mark.parametrize(
    "comment",
    [
        "// expected error {{x}}",
        "// expected-failure {{x}}",
        "// expected-error x",
        "// CHECK: {{x}}",
    ],
)
def test_malformed_expectations(comment):
    assert expectations(comment) == []


# Whether they are met.


def test_a_part_of_the_message_is_enough():
    assert problems("// expected-error {{bad K}}", (1, "has a bad K = 3")) == []


def test_a_message_of_several_lines():
    assert problems("// expected-error {{second}}", (1, "first\n  second")) == []


def test_an_expectation_that_is_not_met():
    assert problems("op\n// expected-error {{bad}}") == [
        'f.mlir:2: error: expected error "bad" was not produced'
    ]


def test_an_unexpected_diagnostic():
    assert problems("op", (1, "bad")) == ["f.mlir:1:3: error: unexpected error: bad"]


@pytest.mark.parametrize(
    "diagnostic",
    [(2, "bad"), (1, "good"), (1, "bad", "warning")],
    ids=["another line", "another text", "another severity"],
)
def test_a_diagnostic_that_differs_is_unmet_and_unexpected(diagnostic):
    assert len(problems("// expected-error {{bad}}", diagnostic)) == 2


def test_one_expectation_meets_one_diagnostic():
    assert problems("// expected-error {{bad}}", (1, "bad"), (1, "bad")) == [
        "f.mlir:1:3: error: unexpected error: bad"
    ]


def test_two_expectations_need_two_diagnostics():
    source = "// expected-error {{bad}}\n// expected-error@above {{bad}}"
    assert len(problems(source, (1, "bad"))) == 1


def test_an_unknown_position():
    assert problems("// expected-error@unknown {{bad}}", (0, "bad")) == []
    assert len(problems("// expected-error@unknown {{bad}}", (1, "bad"))) == 2


@pytest.mark.parametrize(
    "severity, strict", [("note", False), ("remark", False), ("warning", True)]
)
def test_severities_that_need_an_expectation(severity, strict):
    assert bool(problems("op", (1, "message", severity))) == strict


@pytest.mark.parametrize("severity", ["note", "remark"])
def test_a_severity_with_one_expectation_needs_expectations(severity):
    source = f"// expected-{severity} {{{{one}}}}"
    assert len(problems(source, (1, "one", severity), (2, "two", severity))) == 1


# Regular expressions.


@pytest.mark.parametrize(
    "text, message",
    [
        ("K = {{[0-9]+}}", "has K = 48; expected more"),
        ("(M) is {{.*}}", "(M) is 3"),
        ("plain", "is plain"),
        ("{{K|N}} is odd", "N is odd"),
        ("K = {{[0-9]+}} is odd", "K = 3 is odd"),
        ("{{M|N}} = {{[0-9]+}} is odd", "N = 3 is odd"),
    ],
)
def test_regular_expressions_that_match(text, message):
    assert problems(f"// expected-error-re {{{{{text}}}}}", (1, message)) == []


@pytest.mark.parametrize(
    "text, message", [("K = {{[0-9]+}}", "K = many"), ("(M) is {{.}}", "M is 3"), ("a.c", "abc")]
)
def test_regular_expressions_that_do_not_match(text, message):
    assert len(problems(f"// expected-error-re {{{{{text}}}}}", (1, message))) == 2


def test_braces_are_text_without_re():
    assert len(problems("// expected-error {{K = {{.*}}}}", (1, "K = 3"))) == 2


def test_a_malformed_regular_expression():
    assert problems("// expected-error-re {{K = {{(}}}}", (1, "K = ("))
