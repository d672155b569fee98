"""The benchmark networks: real architectures with random weights, written to several file formats."""
