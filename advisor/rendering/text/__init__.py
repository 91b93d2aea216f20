"""Answers as people read them on a terminal. `html` and `data` take their words from here."""
