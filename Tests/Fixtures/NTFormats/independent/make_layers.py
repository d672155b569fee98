"""Writes layers.bin and layers.json: small neural networks with inputs and the outputs that they must give.

    python3 -m pip install coremltools numpy torch scipy
    python3 Tests/Fixtures/NTFormats/independent/make_layers.py

The networks are written by coremltools' builder; the outputs are computed here in double precision from the format's
documented definition of each layer. layers.bin holds the bytes, layers.json says where each piece lies.
"""

from convolution_layers import convolutions, pooling
from dense_layers import dense, normalisation, reductions
from elementwise_layers import activations, elementwise
from layercase import write
from recurrent_layers import recurrent
from shape_layers import indexing, shapes
from spatial_layers import space
from weights_and_images import batches, encodings, images

for make in (convolutions, pooling, activations, elementwise, dense, normalisation, reductions, space, shapes, indexing, recurrent,
             encodings, images, batches):
    make()
write()
