"""Random kernels, with the result that each must compute."""
