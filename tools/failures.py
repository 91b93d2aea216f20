"""What a user can cause in the commands that compile or run; each message stands on its own."""

from ..codegen import CompileError
from ..emulator import EmulationError
from ..passes import OptionError
from ..runtime import LaunchError
from .inputs import InputError

USER_ERRORS = (InputError, OptionError, CompileError, LaunchError, EmulationError)
