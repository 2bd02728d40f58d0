# SPDX-License-Identifier: BSD-2-Clause
"""Members that change at random, several at once and one soon after the other, on sparse data. The
long form is `make chaos ARGS="--only members"`."""

import random

import pytest

import churn
from many_hosts import Hosts, need_root
from program import whole


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return churn.make_data(tmp_path_factory.mktemp("churn"))


@pytest.mark.parametrize("seed", [0, *whole(*((seed,) for seed in range(1, 8)))])
def test_any_change_of_members_is_survived_and_replayed(seed, data, tmp_path):
    trace, again = tmp_path / "run.h5", tmp_path / "again.h5"
    drawn = churn.draw(random.Random(seed), data, trace)
    assert churn.try_here(drawn, trace, again) == ""


@pytest.mark.parametrize("seed", [0, *whole((1,), (2,))])
def test_so_is_it_where_nodes_add_up(seed, data, tmp_path):
    need_root()
    trace, again = tmp_path / "run.h5", tmp_path / "again.h5"
    drawn = churn.draw(random.Random(seed), data, trace, by_node=True)
    with Hosts(tmp_path / "hosts", 4) as hosts:
        assert churn.try_on(hosts, drawn, trace, again) == ""
