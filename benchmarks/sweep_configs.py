"""The configurations that the sweep measures for a shape."""

from random import Random

from mlir_smem.kernels.gemm import Config, Problem, candidates
from mlir_smem.kernels.gemm.generator.candidates import rank

#: Configurations of any rank, besides the first ones of the model's ranking: a model that is fitted to
#: its own choices alone does not learn where it is wrong.
_OTHERS = 10

#: Configurations of a shape for which clusters of 16 are considered.
_FIRST = 16


def configs(problem: Problem, m: int, n: int, k: int) -> list[Config]:
    """Return the candidates of the tuner, and others drawn from all plausible ones."""
    chosen = dict.fromkeys(candidates(problem, m, n, k))
    other_configs = [
        candidate.config for candidate in rank(problem, m, n, k) if candidate.config not in chosen
    ]
    random = Random(f"{m}x{n}x{k}")
    return [*chosen, *random.sample(other_configs, min(_OTHERS, len(other_configs)))]


def large_clusters(problem: Problem, m: int, n: int, k: int) -> list[Config]:
    """Return the first configurations of the ranking if clusters of 16 CTAs are among them; else none."""
    first_configs = [candidate.config for candidate in rank(problem, m, n, k)[:_FIRST]]
    return first_configs if any(candidate.cluster_k == 16 for candidate in first_configs) else []
