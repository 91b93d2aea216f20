"""The ops that the emulator executes, one file a dialect or a facility of the hardware."""
