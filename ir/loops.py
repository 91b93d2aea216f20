"""What a loop of a kernel in program order asks of the passes that make pipelines."""

#: Attribute of an `scf.for`: how many stages its tiles get; 1 leaves it as it is, 0 is as many as fit.
STAGES = "smem.stages"

#: Attribute of an `scf.for`: how its tiles are loaded, "cp-async" or "tma", where it has no producer.
COPIES = "smem.copies"

#: Unit attribute of an `scf.for`: its loads go to a producer.
SPECIALIZE = "smem.specialize"

#: Attribute of an `scf.for`: how many products of an iteration, the last ones, run while the next one
#: begins; as a unit attribute, that is chosen.
OVERLAP = "smem.overlap"
