"""What a loop of a kernel in program order asks of the passes that make pipelines."""

#: Attribute of an `scf.for`: how many stages its tiles get; 1 leaves it as it is, 0 is as many as fit.
STAGES = "smem.stages"

#: Attribute of an `scf.for` without a producer: how its tiles are loaded, one of `WAYS_OF_COPIES`.
COPIES = "smem.copies"

#: By all threads; by one that TMA loads for; by TMA if it can, else by all threads.
WAYS_OF_COPIES = ("cp-async", "tma", "auto")

#: Unit attribute of an `scf.for`: its loads go to a producer.
SPECIALIZE = "smem.specialize"

#: Attribute of an `scf.for`: how many products of an iteration, the last ones, run while the next one
#: begins; as a unit attribute, that is chosen.
OVERLAP = "smem.overlap"

#: Attribute of a loop, and of its branch in LLVM's dialect: `#llvm.loop_annotation`.
LOOP_ANNOTATION = "llvm.loop_annotation"
