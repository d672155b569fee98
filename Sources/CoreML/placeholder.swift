// CoreML
