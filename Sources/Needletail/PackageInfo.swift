/// Facts about the package.
public enum PackageInfo {
    /// The package's version.
    public static let version = "0.1.0"

    /// The environment variables that the package reads.
    public static let environmentVariables: [(name: String, meaning: String)] = [
        ("NEEDLETAIL_MAX_ISA", "the best instruction set to use: portable, avx2, avx512, avx512bf16, avx512fp16, amx"),
        ("NEEDLETAIL_CACHE", "off: keep no compiled OpenCL programs on disk; else the folder to keep them in"),
        (
            "NEEDLETAIL_OPENCL",
            "what OpenCL sessions do, to compare: pixels=on|off (resize pictures on the device), shared=on|off (memory), replay=on|off (launches), fuse=on|off (depthwise and 1x1), single=on|off (one launch for a network), subgroups=on|off (shared sums on graphics processors); on has an effect only where the device has the means (subgroups, replay)"
        ),
        (
            "POCL_CACHE_DIR",
            "where PoCL keeps what it compiles (default pocl/ in the caches' folder; where that cannot be written, a folder of yours under TMPDIR)"
        ),
        ("XDG_CACHE_HOME", "where caches live (default ~/.cache); OpenCL programs go to needletail/ inside it"),
    ]
}
