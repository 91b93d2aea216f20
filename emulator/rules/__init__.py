"""The rules of synchronisation: vector clocks, and the checks of accesses against them."""
