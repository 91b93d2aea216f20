"""The commands of `smem-layout`: each module is the command of its name.

It has

- a docstring, which its `--help` shows,
- `SUMMARY`, which the list of commands shows,
- `add_arguments(parser)`, which adds its arguments to those that every command has, and
- `run(options)`, which prints the answer and returns the exit code.

What it needs besides its arguments is imported when it runs, so that `--help` is there at once.
"""
