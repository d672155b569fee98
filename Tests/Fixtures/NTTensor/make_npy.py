#!/usr/bin/env python3
"""Writes small .npy files as NumPy does: every element type, both orders, all versions of the format. Needs numpy; run it in its own folder."""
import numpy as np

values = np.array([[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 127]]])
for name in ["float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64", "bool"]:
    np.save(f"{name}.npy", values.astype(name))
np.save("fortran.npy", np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4)))
np.save("scalar.npy", np.float32(2.5))
np.save("vector.npy", np.array([1.5, -2.5, 3.5], dtype=np.float32))
np.save("empty.npy", np.zeros((2, 0, 3), dtype=np.float32))
for version in [(1, 0), (2, 0), (3, 0)]:
    with open(f"version{version[0]}.npy", "wb") as file:
        np.lib.format.write_array(file, np.array([[1, 2], [3, 4]], dtype=np.float32), version)
np.save("bigendian.npy", np.array([1, 2], dtype=">f4"))
np.save("complex.npy", np.array([1 + 2j]))
