#include "softmax.h"
#include "../simd/portable.h"
#include "softmax_run.h"
#include "../simd/end.h"
