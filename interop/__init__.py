"""Exchange of modules with hosts whose bindings cannot hold a Python dialect."""
