// NTImage
