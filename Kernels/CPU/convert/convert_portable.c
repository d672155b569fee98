#include "convert.h"

#define NT_TIER(name) name##_portable
#include "convert_rows.inc"
