"""What a trace can read besides its arguments, and which changes of it are noticed."""

import math
import textwrap
import types

import pytest

from mlir_smem.language.reads import Reads


def module(text, **names):
    """Return a module of the author's with this text."""
    author = types.ModuleType("author")
    author.__file__ = "/author/author.py"
    author.__dict__.update(names)
    exec(compile(textwrap.dedent(text), author.__file__, "exec"), author.__dict__)
    return author


class Config:
    def __init__(self, rows):
        self.rows = rows


#: A text with a function `kernel`, and a statement that changes what it reads.
NOTICED = {
    "a global": ("N = 1\ndef kernel(): return N", "N = 2"),
    "the type of a global": ("N = 1\ndef kernel(): return N", "N = True"),
    "a global that was missing": ("def kernel(): return N", "N = 2"),
    "a global that is deleted": ("N = 1\ndef kernel(): return N", "del N"),
    "a builtin that is replaced": ("def kernel(): return min(1, 2)", "min = max"),
    "a list": ("L = [1]\ndef kernel(): return L[0]", "L.append(2)"),
    "a dictionary in a list": ("L = [{'a': 1}]\ndef kernel(): return L[0]", "L[0]['a'] = 2"),
    "an object's attribute": ("C = Config(1)\ndef kernel(): return C.rows", "C.rows = 2"),
    "another object": ("C = Config(1)\ndef kernel(): return C.rows", "C = Config(2)"),
    "a module's value": ("def kernel(): return other.N", "other.N = 2"),
    "a module's list": ("def kernel(): return other.L", "other.L.append(1)"),
    "within a module's module": ("def kernel(): return other.deep.N", "other.deep.N = 2"),
    "a helper's global": (
        "N = 1\ndef helper(): return N\ndef kernel(): return helper()",
        "N = 2",
    ),
    "a helper of a helper": (
        "N = 1\ndef inner(): return N\ndef helper(): return inner()\ndef kernel(): return helper()",
        "N = 2",
    ),
    "another helper": (
        "def helper(): return 1\ndef kernel(): return helper()",
        "def helper(): return 2",
    ),
    "a helper's code": (
        "def helper(): return 1\ndef kernel(): return helper()",
        "helper.__code__ = (lambda: 2).__code__",
    ),
    "a helper's default": (
        "def helper(n=1): return n\ndef kernel(): return helper()",
        "helper.__defaults__ = (2,)",
    ),
    "a method's global": (
        "N = 1\nclass A:\n  def rows(self): return N\na = A()\ndef kernel(): return a.rows()",
        "N = 2",
    ),
    "a property's global": (
        "N = 1\nclass A:\n  @property\n  def rows(self): return N\na = A()\ndef kernel(): return a.rows",
        "N = 2",
    ),
    "a static method's global": (
        "N = 1\nclass A:\n  @staticmethod\n  def rows(): return N\ndef kernel(): return A.rows()",
        "N = 2",
    ),
    "a class's attribute": ("class C: N = 1\ndef kernel(): return C.N", "C.N = 2"),
    "an attribute of an object's class": (
        "class C: N = 1\nc = C()\ndef kernel(): return c.N",
        "C.N = 2",
    ),
    "an attribute that hides its class's": (
        "class C: N = 1\nc = C()\ndef kernel(): return c.N",
        "c.N = 2",
    ),
    "an attribute of a base": (
        "class B: N = 1\nclass C(B): pass\ndef kernel(): return C.N",
        "B.N = 2",
    ),
    "a method that is replaced": (
        "class C:\n  def rows(self): return 1\nc = C()\ndef kernel(): return c.rows()",
        "C.rows = lambda self: 2",
    ),
    "a class method's global": (
        "N = 1\nclass A:\n  @classmethod\n  def rows(cls): return N\ndef kernel(): return A.rows()",
        "N = 2",
    ),
    "a partial helper's global": (
        "import functools\nN = 1\ndef helper(n): return N\nP = functools.partial(helper, 1)\n"
        "def kernel(): return P()",
        "N = 2",
    ),
    "the global of an object that is called": (
        "N = 1\nclass A:\n  def __call__(self): return N\na = A()\ndef kernel(): return a()",
        "N = 2",
    ),
    "the global of a function in a table": (
        "N = 1\ndef helper(): return N\nT = {'a': [helper]}\ndef kernel(): return T['a'][0]()",
        "N = 2",
    ),
    "a wrapper's own global": (
        "import functools\nN = 1\ndef helper(): return 1\n"
        "@functools.wraps(helper)\ndef wrapper(): return N\ndef kernel(): return wrapper()",
        "N = 2",
    ),
    "the global of a function that is cached": (
        "import functools\nN = 1\n@functools.cache\ndef helper(): return N\n"
        "def kernel(): return helper()",
        "N = 2",
    ),
    "an inner function's global": (
        "N = 1\ndef kernel():\n  def inner(): return N\n  return inner()",
        "N = 2",
    ),
    "a comprehension's global": ("N = 1\ndef kernel(): return [N for _ in 'ab']", "N = 2"),
    "a module's helper": ("def kernel(): return other.helper()", "other.M = 2"),
    "a closure": (
        "def make():\n  n = 1\n  def kernel(): return n\n  def set(to):\n    nonlocal n\n    n = to\n"
        "  return kernel, set\nkernel, set_to = make()",
        "set_to(2)",
    ),
    "a closure's list": (
        "def make(l):\n  def kernel(): return l[0]\n  return kernel\nL = [1]\nkernel = make(L)",
        "L[0] = 2",
    ),
    "an inner function's closure": (
        "def make(l):\n  def kernel():\n    return [l[0] for _ in 'ab']\n  return kernel\n"
        "L = [1]\nkernel = make(L)",
        "L[0] = 2",
    ),
    "a helper in a closure": (
        "N = 1\ndef helper(): return N\ndef make(f):\n  def kernel(): return f()\n  return kernel\n"
        "kernel = make(helper)",
        "N = 2",
    ),
    "a wrapped helper": (
        "import functools\nN = 1\ndef helper(): return N\n"
        "@functools.wraps(helper)\ndef wrapper(): return helper()\ndef kernel(): return wrapper()",
        "N = 2",
    ),
}

UNNOTICED = {
    "a name that is not read": ("N = 1\nM = 1\ndef kernel(): return N", "M = 2"),
    "the same value": ("N = 1\ndef kernel(): return N", "N = 1"),
    "an equal list": ("L = [1]\ndef kernel(): return L", "L = [1]"),
    "an object with equal attributes": (
        "C = Config(1)\ndef kernel(): return C.rows",
        "C = Config(1)",
    ),
    "what another function reads": ("N = 1\ndef other(): return N\ndef kernel(): pass", "N = 2"),
}


def author_module(text):
    deep = types.ModuleType("deep")
    deep.N = 1
    other = module("M = 1\nL = []\nN = 1\ndef helper(): return M", deep=deep)
    return module(text, Config=Config, other=other, math=math)


@pytest.mark.parametrize("text, change", NOTICED.values(), ids=NOTICED)
def test_a_change_is_noticed(text, change):
    author = author_module(text)
    reads = Reads(author.kernel)
    assert reads.hold()
    assert reads.hold()
    exec(change, author.__dict__)
    assert not reads.hold()
    assert Reads(author.kernel).hold()


@pytest.mark.parametrize("text, change", UNNOTICED.values(), ids=UNNOTICED)
def test_a_change_that_does_not_matter(text, change):
    author = author_module(text)
    reads = Reads(author.kernel)
    exec(change, author.__dict__)
    assert reads.hold()


def test_what_is_read_again_holds_again():
    author = author_module("N = 1\ndef kernel(): return N")
    reads = Reads(author.kernel)
    author.N = 2
    assert not reads.hold()
    author.N = 1
    assert reads.hold()


def test_pythons_library_is_not_followed():
    author = author_module("import textwrap\ndef kernel(): return textwrap.dedent(str(math.pi))")
    assert len(Reads(author.kernel)._seen) == 1


def test_a_constant_that_is_a_function():
    author = author_module("N = 1\ndef epilogue(): return N\ndef kernel(f): return f()")
    reads = Reads(author.kernel, [author.epilogue])
    assert reads.hold()
    author.N = 2
    assert not reads.hold()


def test_a_default_that_changes():
    author = author_module("def kernel(*, tiles=[1]): return tiles")
    default = author.kernel.__kwdefaults__["tiles"]
    reads = Reads(author.kernel, (), [default])
    assert reads.hold()
    default.append(2)
    assert not reads.hold()


def test_a_name_that_is_read_often_is_compared_once():
    author = author_module("N = 1\ndef kernel(): return N + N + N")
    assert len(Reads(author.kernel)._names) == 1


def test_a_table_that_holds_itself():
    author = author_module("T = []\nT.append(T)\ndef kernel(): return T")
    assert Reads(author.kernel).hold()


def test_an_empty_closure():
    author = author_module(
        "def make():\n  def kernel(): return later\n  def fill():\n    nonlocal later\n    later = 1\n"
        "  if False: later = 0\n  return kernel, fill\nkernel, fill = make()"
    )
    reads = Reads(author.kernel)
    assert reads.hold()
    author.fill()
    assert not reads.hold()


def test_a_function_that_calls_itself():
    author = author_module("N = 1\ndef kernel(n): return kernel(n - N) if n else 0")
    reads = Reads(author.kernel)
    assert reads.hold()
    author.N = 2
    assert not reads.hold()


def test_an_object_that_makes_its_attributes():
    class Lazy:
        def __getattr__(self, name):
            raise RuntimeError(name)  # as `torch.classes` does

    author = module("def kernel(): return [lazy]", lazy=Lazy())
    assert Reads(author.kernel).hold()
