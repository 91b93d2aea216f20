"""Running the commands of a page: files, diffs and outputs (docs/sessions.py)."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "sessions.py"


def run(page, *options):
    return subprocess.run(
        [sys.executable, SCRIPT, *options, page], capture_output=True, text=True, check=False
    )


def renew(tmp_path, text, *options):
    page = tmp_path / "page.md"
    page.write_text(text)
    assert run(page, *options).returncode == 0
    return page.read_text()


def fence(language, *lines):
    return "\n".join([f"```{language}", *lines, "```", ""])


def test_the_output_of_a_command_replaces_the_old_output(tmp_path):
    before = fence("console", "$ echo new", "old", "older", "$ true", "also old")
    assert renew(tmp_path, before) == fence("console", "$ echo new", "new", "$ true")


def test_standard_error_is_shown_as_output(tmp_path):
    before = fence("console", "$ echo out; echo wrong >&2; exit 3")
    after = fence("console", "$ echo out; echo wrong >&2; exit 3", "out", "wrong")
    assert renew(tmp_path, before) == after


def test_a_command_of_two_lines(tmp_path):
    after = fence("console", "$ echo one \\", "    two", "one two")
    assert renew(tmp_path, fence("console", "$ echo one \\", "    two")) == after


def test_a_named_fence_is_a_file_and_a_diff_changes_it(tmp_path):
    page = "\n".join(
        [
            fence("python", "# add.py", "a = 1", "b = 2", "print(a)", "print(b)"),
            fence("console", "$ python add.py", "1", "2"),
            fence("diff", "--- add.py", " # add.py", "-a = 1", "+a = 7", "@@", "-print(b)"),
            fence("console", "$ python add.py", "7"),
        ]
    )
    assert renew(tmp_path, page) == page


def test_a_diff_that_does_not_fit_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(fence("python", "# x.py", "a = 1") + fence("diff", "--- x.py", "-a = 2"))
    ran = run(page)
    assert ran.returncode
    assert "ValueError: 0 places of x.py match the diff; expected 1:\n-a = 2" in ran.stderr


def test_output_of_a_gpu_command_is_kept_without_gpu_option(tmp_path):
    page = fence("console", "$ echo 1 # on a GPU", "2", "$ echo 3", "3")
    assert renew(tmp_path, page) == page
    assert renew(tmp_path, page, "--gpu") == page.replace("\n2", "\n1")


def test_other_fences_are_kept(tmp_path):
    page = fence("sh", "echo hello") + fence("python", "print(1)")
    assert renew(tmp_path, page) == page
