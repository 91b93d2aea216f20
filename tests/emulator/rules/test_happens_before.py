"""Vector clocks, against a model that stores for each thread the set of events ordered before it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.emulator.lanes import Lanes
from mlir_smem.emulator.rules.vector_clocks import VectorClocks

THREADS = 5

some_threads = st.sets(st.integers(0, THREADS - 1), min_size=1).map(sorted)
all_threads = st.just(list(range(THREADS)))

#: A write, a fence, a barrier, and a release that other threads acquire.
actions = st.one_of(
    st.tuples(st.just("write"), some_threads),
    st.tuples(st.just("fence"), some_threads),
    st.tuples(st.just("synchronise"), some_threads | all_threads),
    st.tuples(st.just("release"), some_threads, some_threads),
)


class Model:
    """Sets of events for each thread: those ordered before it, and those visible to the async proxy."""

    def __init__(self):
        self.seen = [set() for _ in range(THREADS)]
        self.proxied = [set() for _ in range(THREADS)]

    def join(self, sources, targets):
        seen = set().union(*(self.seen[t] for t in sources))
        proxied = set().union(*(self.proxied[t] for t in sources))
        for t in targets:
            self.seen[t] = self.seen[t] | seen
            self.proxied[t] = self.proxied[t] | proxied


def run_both(history):
    """Return both models after a history, and the thread and epoch of each write."""
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


@given(st.lists(actions, max_size=25))
def test_writes_ordered_before_a_thread(history):
    order, model, events = run_both(history)
    for number, (writer, epoch) in enumerate(events):
        for thread in range(THREADS):
            assert (epoch <= order.seen[thread, writer]) == (number in model.seen[thread])


@given(st.lists(actions, max_size=25))
def test_writes_visible_to_the_async_proxy(history):
    order, model, events = run_both(history)
    for number, (writer, epoch) in enumerate(events):
        for thread in range(THREADS):
            assert (epoch <= order.proxied[thread, writer]) == (number in model.proxied[thread])


@given(st.lists(actions, max_size=25), some_threads)
def test_horizon_is_what_is_ordered_before_all_given_threads(history, threads):
    order, model, events = run_both(history)
    mask = np.isin(np.arange(THREADS), threads)
    seen, proxied = order.seen_by_all(Lanes(mask).index)
    for number, (writer, epoch) in enumerate(events):
        assert (epoch <= seen[writer]) == all(number in model.seen[t] for t in threads)
        assert (epoch <= proxied[writer]) == all(number in model.proxied[t] for t in threads)


@given(st.lists(actions, max_size=25))
def test_clocks_do_not_exceed_the_threads_own_epoch(history):
    order, _, _ = run_both(history)
    assert (order.seen <= order.epoch).all()
    assert (order.proxied <= order.seen).all()
    assert (np.diagonal(order.seen) == order.epoch).all()
