"""The GPU of these tests."""

import pytest
import stand_in


@pytest.fixture
def gpu(monkeypatch):
    """A stand-in; what it was asked for, and what it shall refuse."""
    return stand_in.install(monkeypatch)
