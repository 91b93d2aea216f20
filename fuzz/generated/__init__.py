"""Random kernels, with what each must compute."""
