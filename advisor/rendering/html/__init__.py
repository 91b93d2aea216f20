"""Answers as HTML, for notebooks."""
