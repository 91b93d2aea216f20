"""The subcommands of `smem-layout`: one module each, with the subcommand's name.

A module has

- a docstring, which its `--help` shows,
- `SUMMARY`, which the list of subcommands shows,
- `add_arguments(parser)`, which adds its arguments, and
- `run(options)`, which prints the answer and returns the exit code.

`run` imports the modules that it needs, so that `--help` starts fast.
"""
