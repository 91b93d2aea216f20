"""Kernels with plain loops: how they are drawn, and what they mean."""
