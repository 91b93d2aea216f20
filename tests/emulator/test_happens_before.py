"""Vector clocks, beside a model that keeps for each thread the set of the events it has seen."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.emulator.lanes import Lanes
from mlir_smem.emulator.rules.vector_clocks import VectorClocks

THREADS = 5

some = st.sets(st.integers(0, THREADS - 1), min_size=1).map(sorted)
everyone = st.just(list(range(THREADS)))

#: A write by a thread, a fence, a barrier, and a release with the acquire of it by others.
steps = st.one_of(
    st.tuples(st.just("write"), some),
    st.tuples(st.just("fence"), some),
    st.tuples(st.just("synchronise"), some | everyone),
    st.tuples(st.just("pass on"), some, some),
)


class Model:
    """Sets of events, each a number: what a thread sees, and what it makes the async proxy see."""

    def __init__(self):
        self.seen = [set() for _ in range(THREADS)]
        self.proxied = [set() for _ in range(THREADS)]

    def join(self, sources, targets):
        seen = set().union(*(self.seen[t] for t in sources))
        proxied = set().union(*(self.proxied[t] for t in sources))
        for t in targets:
            self.seen[t] = self.seen[t] | seen
            self.proxied[t] = self.proxied[t] | proxied


def played(history):
    """Both models after a history, and who wrote each event in which epoch."""
    order, model, events = VectorClocks(THREADS), Model(), []
    for name, threads, *others in history:
        index = np.array(threads)
        if name == "write":
            for t in threads:
                model.seen[t].add(len(events))
                events.append((t, int(order.epoch[t])))
        elif name == "fence":
            order.fence(index)
            for t in threads:
                model.proxied[t] = set(model.seen[t])
        elif name == "synchronise":
            order.synchronise(index)
            model.join(threads, threads)
        else:
            order.acquire(np.array(others[0]), *order.release(index))
            model.join(threads, others[0])
    return order, model, events


@given(st.lists(steps, max_size=25))
def test_a_thread_sees_what_is_ordered_before(history):
    order, model, events = played(history)
    for number, (writer, epoch) in enumerate(events):
        for thread in range(THREADS):
            assert (epoch <= order.seen[thread, writer]) == (number in model.seen[thread])


@given(st.lists(steps, max_size=25))
def test_the_async_proxy_sees_what_a_fence_was_on_the_way_of(history):
    order, model, events = played(history)
    for number, (writer, epoch) in enumerate(events):
        for thread in range(THREADS):
            assert (epoch <= order.proxied[thread, writer]) == (number in model.proxied[thread])


@given(st.lists(steps, max_size=25), some)
def test_the_horizon_is_what_all_of_some_threads_see(history, threads):
    order, model, events = played(history)
    mask = np.isin(np.arange(THREADS), threads)
    seen, proxied = order.seen_by_all(Lanes(mask).index)
    for number, (writer, epoch) in enumerate(events):
        assert (epoch <= seen[writer]) == all(number in model.seen[t] for t in threads)
        assert (epoch <= proxied[writer]) == all(number in model.proxied[t] for t in threads)


@given(st.lists(steps, max_size=25))
def test_nobody_knows_more_of_a_thread_than_itself(history):
    order, _, _ = played(history)
    assert (order.seen <= order.epoch).all()
    assert (order.proxied <= order.seen).all()
    assert (np.diagonal(order.seen) == order.epoch).all()
