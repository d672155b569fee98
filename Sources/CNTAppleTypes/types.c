#include "CNTAppleTypes.h"
