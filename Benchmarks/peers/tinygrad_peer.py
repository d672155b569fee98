"""tinygrad on the first OpenCL device (DEV=CL), its kernels captured once and replayed. See protocol.py."""

import os

os.environ.setdefault("DEV", "CL")

from importlib.metadata import version  # noqa: E402

import protocol  # noqa: E402 (first: it keeps standard output for answers)

from tinygrad import Device, Tensor, TinyJit  # noqa: E402
from tinygrad.nn.onnx import OnnxRunner  # noqa: E402


class Tinygrad(protocol.Engine):
    name = "tinygrad"
    version = version("tinygrad")

    def load(self, model, threads, batch):
        runner = OnnxRunner(str(model))
        self.step = TinyJit(lambda image: runner({"image": image})["output"].realize())

    def set_input(self, image):
        self.image = Tensor(image).realize()

    def run(self):
        self.result = self.step(self.image)
        Device[Device.DEFAULT].synchronize()

    def output(self):
        return self.result.numpy()


if __name__ == "__main__":
    protocol.main(Tinygrad())
