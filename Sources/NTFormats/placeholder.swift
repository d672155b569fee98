// NTFormats
