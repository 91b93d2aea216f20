"""The static checker against the emulator, on random programs with damaged synchronisation.

The emulator must report nothing of a program that the checker proves, and a violation of a program that
the checker rejects.
"""

import re
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from seeded_faults.edits import without

from fuzz.generated.gemms import GemmCase
from fuzz.generated.kernels import check_and_lower, emulate_kernel

#: Edits that make some programs wrong.
DAMAGES = {
    "none": lambda text: text,
    "no fence": without('"smem.fence"'),
    "no barrier before the mma": lambda text: re.sub(r"gpu\.barrier\n( *%pa)", r"\n\1", text),
    "no barrier after the wait": lambda text: re.sub(r"gpu\.barrier\n( *scf\.yield)", r"\1", text),
    "no commit": lambda text: text.replace('"smem.copy_commit"() : () -> ()', ""),
    "no wait for copies": lambda text: re.sub(r'"smem\.copy_wait".*\n', "\n", text),
    "a copy left pending": lambda text: re.sub(r"(copy_wait.*pending =) 0", r"\1 1", text),
    "one more mma left pending": lambda text: re.sub(
        r"(%on = .*pending =) (\d)", lambda m: f"{m[1]} {int(m[2]) + 1}", text
    ),
    "no mma left pending": lambda text: re.sub(r"(%on = .*pending =) \d", r"\1 0", text),
    "a barrier before the fence": lambda text: text.replace(
        '"smem.fence"() : () -> ()\n      gpu.barrier',
        'gpu.barrier\n      "smem.fence"() : () -> ()',
    ),
    "another stage": lambda text: re.sub(
        r"(%slot = arith\.remui) %i, %stages", r"\1 %c0, %stages", text
    ),
}


#: Upper limits of drawn values, lower than elsewhere to save time.
LIMITS = {"blocks": 1, "n": 64}


@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_proven_programs_are_right_and_rejected_ones_are_wrong(data):

    def choose(name, items):
        allowed = [item for item in items if name not in LIMITS or item <= LIMITS[name]]
        return data.draw(st.sampled_from(allowed), label=name)

    program = GemmCase.draw(choose)
    assume(program.fits)
    damage = data.draw(st.sampled_from(sorted(DAMAGES)), label="damage")
    text = DAMAGES[damage](program.text)
    note(text)
    kernel = replace(program.kernel(), text=text)
    checked_kernel = check_and_lower(kernel)
    reported = emulate_kernel(checked_kernel.compiled, kernel)
    if checked_kernel.check.evaluation == "proven":
        assert reported == ""
    if checked_kernel.check.evaluation == "wrong":
        assert reported not in ("", "wrong result")
