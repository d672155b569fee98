"""MNN on its CPU backend, float32, through a session. The model is the .mnn that mnnconvert wrote. See protocol.py."""

import protocol  # first: it keeps standard output for answers

import MNN
import numpy as np


class Mnn(protocol.Engine):
    name = "mnn"
    version = MNN.version()

    def load(self, model, threads, batch):
        self.interpreter = MNN.Interpreter(str(model))
        self.session = self.interpreter.createSession(
            {"backend": "CPU", "numThread": threads, "precision": "normal", "memory": "normal", "power": "high"})

    def set_input(self, image):
        target = self.interpreter.getSessionInput(self.session, "image")
        target.copyFrom(MNN.Tensor(image.shape, MNN.Halide_Type_Float, image, MNN.Tensor_DimensionType_Caffe))

    def run(self):
        self.interpreter.runSession(self.session)

    def output(self):
        source = self.interpreter.getSessionOutput(self.session, "output")
        host = MNN.Tensor(source.getShape(), MNN.Halide_Type_Float,
                          np.zeros(source.getShape(), dtype=np.float32), MNN.Tensor_DimensionType_Caffe)
        source.copyToHostTensor(host)
        return np.array(host.getData(), dtype=np.float32)


if __name__ == "__main__":
    protocol.main(Mnn())
