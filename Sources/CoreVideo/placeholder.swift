// CoreVideo
