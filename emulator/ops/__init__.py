"""The ops that the emulator executes, a file for each dialect or facility of the hardware."""
