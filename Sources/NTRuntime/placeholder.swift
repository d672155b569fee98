// NTRuntime
