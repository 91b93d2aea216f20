"""Renderings of answers: `text` for a terminal, `data` for JSON and `html` for notebooks.

A module renders the answers of the `advisor` module with the same name: `decoded.py` here registers the
text, data and HTML of the answers of `advisor/decoded.py`. An answer without one of them has the default
rendering of `answer.py`. `formats` and `tables` are shared; `cuda` prints a choice as CUDA C++.
"""
