"""Not an engine: a large single-precision matrix product by NumPy's BLAS, the yardstick for what the machine gives just now.

Set OPENBLAS_NUM_THREADS before it starts. One run is SIZE^3 multiply-adds. See protocol.py.
"""

import numpy as np

import protocol

SIZE = 1024


class Sgemm(protocol.Engine):
    name = "sgemm"
    version = np.__version__

    def load(self, model, threads, batch):
        random = np.random.default_rng(0)
        self.a, self.b = (random.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2))
        self.c = np.empty_like(self.a)

    def set_input(self, image):
        pass

    def run(self):
        np.matmul(self.a, self.b, out=self.c)

    def output(self):
        return self.c[0]


if __name__ == "__main__":
    protocol.main(Sgemm())
