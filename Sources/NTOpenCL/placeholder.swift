// NTOpenCL
