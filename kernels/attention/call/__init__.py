"""Calls of attention kernels on arrays: a kernel is compiled when needed, then launched."""
