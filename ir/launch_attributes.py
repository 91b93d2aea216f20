"""Attributes by which passes say what a host must know to launch a kernel; manifests are made of them."""

#: The attribute of a kernel that says how many bytes of dynamic shared memory it needs.
SHARED_BYTES = "smem.shared_bytes"

#: The attribute of a kernel's parameter that is a tensor map: what the map describes.
TENSOR_MAP = "smem.tensor_map"

#: Bytes of a tensor map, and what they are aligned to (CUDA driver API, CUtensorMap).
TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64

#: The attribute of a kernel that says what named extents are multiples of.
MULTIPLES = "smem.multiples"
