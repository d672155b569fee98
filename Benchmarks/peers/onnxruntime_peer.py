"""ONNX Runtime on its CPU provider, input and output bound once. See protocol.py."""

import protocol  # first: it keeps standard output for answers

import numpy as np
import onnxruntime


class OnnxRuntime(protocol.Engine):
    name = "onnxruntime"
    version = onnxruntime.__version__

    def load(self, model, threads, batch):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()

    def set_input(self, image):
        self.image = onnxruntime.OrtValue.ortvalue_from_numpy(image)
        self.result = onnxruntime.OrtValue.ortvalue_from_numpy(
            np.empty(self.session.get_outputs()[0].shape, dtype=np.float32))
        self.binding.bind_ortvalue_input("image", self.image)
        self.binding.bind_ortvalue_output("output", self.result)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def output(self):
        return self.result.numpy()


if __name__ == "__main__":
    protocol.main(OnnxRuntime())
