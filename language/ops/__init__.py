"""Functions on values: memory, mma, pipelines, mathematics."""
