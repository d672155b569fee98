#include "elementwise.h"
#include "../simd/portable.h"
#include "elementwise_run.h"
#include "../simd/end.h"
