"""Bulk copies between global and shared memory, with and without tensor maps (PTX ISA, cp.async.bulk)."""
