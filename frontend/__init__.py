"""The way in from other compilers: host programs that launch kernels."""
