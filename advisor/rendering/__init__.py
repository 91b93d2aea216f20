"""How answers are said: `text` for people, `html` for notebooks and `data` for JSON.

Each of these rooms has a module for each module of answers, of the same name: `text/decoded.py` registers
how the answers of `decoded.py` are said as text. Where a room has none, they are said as `answer.py` says
by default. `cuda` writes a choice as CUDA C++.
"""
