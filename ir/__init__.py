"""Helpers shared by passes and code generation: op creation, queries on kernels, addresses, mbarriers."""
