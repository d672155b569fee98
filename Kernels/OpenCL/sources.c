#include "CNTKernelSources.h"

#include <string.h>

static const char common_text[] = {
#embed "common.cl"
};
static const char functions_text[] = {
#embed "functions.cl"
};
static const char pointwise_text[] = {
#embed "pointwise.cl"
};
static const char convolution_text[] = {
#embed "convolution.cl"
};
static const char convolution_tiled_text[] = {
#embed "convolution_tiled.cl"
};
static const char depthwise_text[] = {
#embed "depthwise.cl"
};
static const char pool_text[] = {
#embed "pool.cl"
};
static const char lanes_text[] = {
#embed "lanes.cl"
};
static const char spatial_text[] = {
#embed "spatial.cl"
};
static const char transposed_text[] = {
#embed "transposed.cl"
};
static const char matmul_text[] = {
#embed "matmul.cl"
};
static const char dense_text[] = {
#embed "dense.cl"
};
static const char groups_text[] = {
#embed "groups.cl"
};
static const char peak_text[] = {
#embed "peak.cl"
};
static const char picking_text[] = {
#embed "picking.cl"
};
static const char separable_text[] = {
#embed "separable.cl"
};
static const char network_text[] = {
#embed "network.cl"
};
static const char pixels_text[] = {
#embed "pixels.cl"
};

#define SOURCE(name) { #name, name##_text, sizeof name##_text }
static const struct {
    const char *name;
    const char *text;
    size_t length;
} sources[] = {
    SOURCE(common), SOURCE(functions), SOURCE(pointwise), SOURCE(convolution), SOURCE(convolution_tiled), SOURCE(depthwise),
    SOURCE(pool), SOURCE(lanes), SOURCE(spatial), SOURCE(transposed), SOURCE(matmul), SOURCE(peak), SOURCE(picking), SOURCE(pixels), SOURCE(separable), SOURCE(network),
    SOURCE(dense), SOURCE(groups),
};

const char *nt_kernel_source(const char *name, size_t *length) {
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (strcmp(sources[i].name, name) == 0) {
            *length = sources[i].length;
            return sources[i].text;
        }
    }
    *length = 0;
    return NULL;
}
