// CoreImage
