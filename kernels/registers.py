"""Registers of kernels with a producer warpgroup and consumer warpgroups."""

#: Registers of a thread of the producer and of a consumer, by the number of consumers: the producer
#: releases the registers that the consumers need (`setmaxnreg`).
REGISTERS = {1: (40, 248), 2: (40, 232), 3: (32, 160)}
