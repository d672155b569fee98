"""ncnn in float32 with its other options at their defaults (Winograd included). The model is the .ncnn.param that pnnx
wrote, its .ncnn.bin beside it. ncnn has no batch: a batch is one run after another. See protocol.py.
"""

import protocol  # first: it keeps standard output for answers

import ncnn
import numpy as np


class Ncnn(protocol.Engine):
    name = "ncnn"
    version = ncnn.__version__

    def load(self, model, threads, batch):
        self.net = ncnn.Net()
        options = self.net.opt
        options.num_threads = threads
        for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_packed", "use_bf16_storage"):
            setattr(options, name, False)
        if self.net.load_param(str(model)) or self.net.load_model(str(model.with_suffix(".bin"))):
            raise SystemExit(f"{model}: ncnn cannot load it")

    def set_input(self, image):
        self.images = [ncnn.Mat(one).clone() for one in image]

    def run(self):
        self.results = []
        for image in self.images:
            extractor = self.net.create_extractor()
            extractor.input("in0", image)
            self.results.append(extractor.extract("out0")[1])

    def output(self):
        return np.stack([np.array(result) for result in self.results])


if __name__ == "__main__":
    protocol.main(Ncnn())
