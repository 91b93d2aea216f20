"""Attributes that passes add for the host launch of a kernel; manifests are built from them."""

#: Attribute of a kernel: its dynamic shared memory, in bytes.
SHARED_BYTES = "smem.shared_bytes"

#: Attribute of a kernel parameter that is a tensor map: what the map describes.
TENSOR_MAP = "smem.tensor_map"

#: Size and alignment of a tensor map, in bytes (CUDA driver API, CUtensorMap).
TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64

#: Attribute of a kernel: numbers that named extents must be multiples of.
MULTIPLES = "smem.multiples"
