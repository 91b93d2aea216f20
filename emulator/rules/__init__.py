"""The rules of synchronisation: vector clocks, barriers, and the checks of accesses against them."""
