"""`smem.config`: the configuration of a contraction's kernel."""

import pytest
from contractions import generic, lower


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("5 : i64", "has smem.config = 5 : i64; expected a dictionary of tile, "),
        ("{tiles = [64, 64, 64]}", "has smem.config with 'tiles'; expected tile, "),
        ("{tile = [64, 64]}", "has smem.config with tile = [64, 64]; expected 3 integers"),
        ("{stages = 1.0}", "has smem.config with stages = 1.000000e+00 : f64; expected an integer"),
        ("{exchanged = 1}", "has smem.config with exchanged = 1 : i64; expected true or false"),
        ("{tile = [100, 64, 64]}", "the tile's M is 100; expected a multiple of 128"),
        (
            "{tile = [128, 64, 64], store_columns = 64, split_k = 2}",
            "has a configuration with split_k > 1",
        ),
    ],
)
def test_a_configuration_that_does_not_fit(config, reason):
    text = generic().replace('"reduction"]}', f'"reduction"], smem.config = {config}}}')
    after, remarks = lower(text)
    assert "gpu." not in after
    assert reason in remarks[0]


def test_a_configuration():
    config = "{tile = [64, 32, 64], stages = 3, consumers = 1, store_columns = 32}"
    text = generic().replace('"reduction"]}', f'"reduction"], smem.config = {config}}}')
    _, remarks = lower(text, explain=True)
    assert "tiles 64x32x64 in 3 stages" in remarks[0]
