"""LiteRT (TensorFlow Lite) with its default XNNPACK delegate. The model is the .tflite, whose layout is NHWC. See protocol.py."""

from importlib.metadata import version

import protocol  # first: it keeps standard output for answers

import numpy as np
from ai_edge_litert.interpreter import Interpreter


class LiteRT(protocol.Engine):
    name = "litert"
    version = version("ai-edge-litert")

    def load(self, model, threads, batch):
        self.interpreter = Interpreter(str(model), num_threads=threads)
        self.interpreter.allocate_tensors()

    def set_input(self, image):
        index = self.interpreter.get_input_details()[0]["index"]
        self.interpreter.set_tensor(index, np.ascontiguousarray(image.transpose(0, 2, 3, 1)))

    def run(self):
        self.interpreter.invoke()

    def output(self):
        return self.interpreter.get_tensor(self.interpreter.get_output_details()[0]["index"])


if __name__ == "__main__":
    protocol.main(LiteRT())
