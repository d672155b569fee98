"""OpenVINO on its CPU device, latency mode. With OPENVINO_PEER_PRECISION=f32 it keeps to float32; by default it takes
what it finds best, bfloat16 where the processor has it. See protocol.py.
"""

import os

import protocol  # first: it keeps standard output for answers

import openvino


class OpenVINO(protocol.Engine):
    name = "openvino"
    version = openvino.__version__.split("-")[0]

    def load(self, model, threads, batch):
        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
        if precision := os.environ.get("OPENVINO_PEER_PRECISION"):
            settings["INFERENCE_PRECISION_HINT"] = precision
        core = openvino.Core()
        self.request = core.compile_model(core.read_model(model), "CPU", settings).create_infer_request()

    def set_input(self, image):
        self.image = openvino.Tensor(image, shared_memory=True)
        self.request.set_input_tensor(self.image)

    def run(self):
        self.request.start_async()
        self.request.wait()

    def output(self):
        return self.request.get_output_tensor().data


if __name__ == "__main__":
    protocol.main(OpenVINO())
