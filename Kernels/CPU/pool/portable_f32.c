#include "pool.h"
#include "../simd/portable.h"
#include "pool_pixel.h"
#include "../simd/end.h"
