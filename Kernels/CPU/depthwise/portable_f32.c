#include "depthwise.h"
#include "../simd/portable.h"
#include "depthwise_row.h"
#include "../simd/end.h"
