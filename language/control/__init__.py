"""Statements: loops, branches, partitions, the grid."""
