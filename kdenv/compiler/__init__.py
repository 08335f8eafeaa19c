"""Compiles kernels and keeps their machine code on disk; has what kernels are written with: questions, states, bits, random numbers."""
