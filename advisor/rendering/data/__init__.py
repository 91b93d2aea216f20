"""Answers as plain data, for JSON."""
