#include "peak.h"

#include <CNTPlatform.h>

#define NT_PEAK(suffix, name, isa, element, multiply_adds) void nt_peak_##suffix(size_t rounds);
#include "peak.inc"
#undef NT_PEAK

static const nt_peak loops[] = {
#define NT_PEAK(suffix, name, isa, element, multiply_adds) {name, isa, element, 2.0 * 12 * (multiply_adds), nt_peak_##suffix},
#include "peak.inc"
#undef NT_PEAK
};

size_t nt_peak_count(void) { return sizeof loops / sizeof loops[0]; }

const nt_peak *nt_peak_at(size_t index) { return index < nt_peak_count() ? &loops[index] : NULL; }
