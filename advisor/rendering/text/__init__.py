"""Answers as text, for a terminal. `html` and `data` use the sentences of these modules."""
