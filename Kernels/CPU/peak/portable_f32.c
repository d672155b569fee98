#include "peak.h"
#include "../simd/portable.h"
#include "peak_loop.h"
#include "../simd/end.h"
