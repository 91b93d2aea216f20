"""Renderings of answers: `text` for a terminal, `html` for notebooks and `data` for JSON.

A module of these packages renders the answers of the `advisor` module with the same name:
`text/decoded.py` registers the text of the answers of `decoded.py`. Answers without such a module have
the default rendering of `answer.py`. `cuda` prints a choice as CUDA C++.
"""
