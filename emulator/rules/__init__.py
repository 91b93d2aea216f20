"""The rules that a program must keep: who has synchronised with whom, and which accesses that allows."""
