"""The order of accesses: which runs a function has, and what may happen before what is over."""
