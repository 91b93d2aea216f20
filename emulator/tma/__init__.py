"""TMA: bulk copies and bulk tensor copies between global and shared memory (PTX ISA, cp.async.bulk)."""
