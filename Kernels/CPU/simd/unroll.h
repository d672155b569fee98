// NT_UNROLL stands before a loop with constant bounds whose passes are to be written out one by one. Under sanitizers they are not: the checks in
// each would take the compiler minutes.
#pragma clang diagnostic ignored "-Wpass-failed"
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define NT_UNROLL
#else
#define NT_UNROLL _Pragma("clang loop unroll(full)")
#endif
