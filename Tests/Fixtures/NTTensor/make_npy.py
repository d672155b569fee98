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
for code in ["f2", "f4", "f8", "i2", "u2", "i4", "i8"]:
    np.save(f"big_{code}.npy", np.array([[0 if code == "u2" else -1, 1], [2, 300]]).astype(">" + code))
for name, order in [("little", "<"), ("big", ">")]:
    np.save(f"{name}_u4.npy", np.array([0, 1, 300, 2**32 - 256], dtype=order + "u4"))
    np.save(f"{name}_u8.npy", np.array([0, 1, 300, 2**64 - 2**40], dtype=order + "u8"))
np.save("big_fortran.npy", np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)))
np.save("complex.npy", np.array([1 + 2j]))
