import CNTPlatform

let ceilings: [(String, UInt32)] = [
    ("portable", 0), ("avx2", UInt32(NT_ISA_AVX2)), ("avx512", UInt32(NT_ISA_AVX2 | NT_ISA_AVX512)), ("all", UInt32.max),
]

func setCeiling(_ mask: UInt32) { nt_isa_set_ceiling(mask) }
