from dataclasses import FrozenInstanceError

import pytest

from gramian.choosing import Verdict


def test_a_verdict_prints_as_a_sentence():
    """Rule, number and reason in one line."""
    assert str(Verdict("share", 2, "Two hold 96%.")) == "share: 2. Two hold 96%."


def test_a_verdict_does_not_change():
    """It is a frozen value."""
    with pytest.raises(FrozenInstanceError):
        Verdict("share", 2, "").n_components = 3
