// NTGraph
