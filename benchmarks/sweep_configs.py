"""The configurations that the sweep measures for a shape."""

from random import Random

from mlir_smem.kernels.gemm import Config, Problem, candidates
from mlir_smem.kernels.gemm.generator.candidates import rank

#: Configurations of any rank, besides those that the model puts first: a model that is fitted to nothing
#: but its own favourites does not learn where it is wrong.
_OTHERS = 10

#: Configurations of a shape for which clusters of 16 are considered.
_FIRST = 16


def configs(problem: Problem, m: int, n: int, k: int) -> list[Config]:
    """Return the candidates of the tuner, and others drawn from all plausible ones."""
    found = dict.fromkeys(candidates(problem, m, n, k))
    others = [each.config for each in rank(problem, m, n, k) if each.config not in found]
    random = Random(f"{m}x{n}x{k}")
    return [*found, *random.sample(others, min(_OTHERS, len(others)))]


def large_clusters(problem: Problem, m: int, n: int, k: int) -> list[Config]:
    """Return the first configurations of the ranking if clusters of 16 CTAs are among them; else none."""
    found = [each.config for each in rank(problem, m, n, k)[:_FIRST]]
    return found if any(each.cluster_k == 16 for each in found) else []
