#include "strassen.h"
#include "../simd/portable.h"
#include "strassen_sums.h"
#include "../simd/end.h"
