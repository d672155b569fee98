// NTTensor
