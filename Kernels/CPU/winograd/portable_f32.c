#include "winograd.h"
#include "../simd/portable.h"
#include "winograd_transform.h"
#include "../simd/end.h"
