// What the GROUP work-items of a group, all in its first dimension, find together. GROUP may be any number; with 1 an item is alone.
//
// SHARE_ALL(COUNT, values, combine) combines every item's values[0..<COUNT] by `combine`, an expression of a and b, and gives all of them the same result;
// SHARE does so for one variable. Every item of the group comes there. Both need GROUP_MEMORY(COUNT), with the largest COUNT, at the kernel's beginning.
//
// By sub-groups, whose size is what the device says at run time and the last of which may lack items: first the items of a sub-group meet, at steps of 1, 2,
// 4..., without local memory, then the sub-groups' results in local memory, one after the other. Without sub-groups all items meet in local memory by halves.
// The order is that of the items alone, so that results are the same bits at every run; sub-groups of other sizes, or none, add in another order.
// (`sub_group_reduce_add` leaves the order to the driver.) On a processor of 32 lanes a group of 256 waits at 2 barriers for a result instead of 10.
#if GROUP == 1
#define GROUP_MEMORY(COUNT)
#define SHARE_ALL(COUNT, values, combine) {}
#define SHARE(variable, combine) {}
#define NT_GROUP_KERNEL NT_KERNEL
#else
#define NT_GROUP_KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
#define MEMBER ((int)get_local_id(0))

#define SHARE(variable, combine) { \
    float one_[1] = {variable}; \
    SHARE_ALL(1, one_, combine) \
    variable = one_[0]; }

// SUBGROUPS says by which means the device's compiler is to move values between the items of a sub-group; where it lacks that, local memory serves.
#define PTX 1
#define SHUFFLE 2
#define INTEL_SHUFFLE 3
#define PLAIN 4
#if SUBGROUPS == PTX && (defined(__NVPTX__) || defined(__NV_CL_C_VERSION))
// NVIDIA's OpenCL has no sub-groups, its instructions have: shfl.sync is defined for warps of 32 consecutive items. It names the items that take part.
#define LANE (MEMBER % 32)
#define SUBGROUP (MEMBER / 32)
#define SUBGROUP_SIZE (GROUP % 32 == 0 ? 32 : min(32, GROUP - SUBGROUP * 32))
#define SUBGROUP_COUNT ((GROUP + 31) / 32)
#define SUBGROUP_MOST SUBGROUP_COUNT
#define SUBGROUP_MEMORY
float nt_exchange(float value, int step, int size)
{
    float result;
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, %3;" : "=f"(result) : "f"(value), "r"(step), "r"(size == 32 ? -1 : (1 << size) - 1));
    return result;
}
#define EXCHANGE(value, step) nt_exchange(value, step, SUBGROUP_SIZE)
#elif SUBGROUPS == SHUFFLE && defined(cl_khr_subgroup_shuffle)
#define EXCHANGE(value, step) sub_group_shuffle_xor(value, (uint)(step))
#elif SUBGROUPS == INTEL_SHUFFLE && defined(cl_intel_subgroups)
#define EXCHANGE(value, step) intel_sub_group_shuffle_xor(value, (uint)(step))
#elif SUBGROUPS == PLAIN && (defined(cl_khr_subgroups) || defined(__opencl_c_subgroups))
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
// Without shuffles a sub-group's items meet in local memory, and only they wait for each other.
#define SUBGROUP_MEMORY local float exchange_[GROUP];
float nt_exchange(local float *place, float value, int lane, int step, int size)
{
    place[lane] = value;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    float result = (lane ^ step) < size ? place[lane ^ step] : 0.0f;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}
// The items before a sub-group's fill theirs: all but the last are whole.
#define EXCHANGE(value, step) nt_exchange(exchange_ + SUBGROUP * (int)get_max_sub_group_size(), value, LANE, step, SUBGROUP_SIZE)
#endif

#ifdef EXCHANGE
#ifndef LANE
#define LANE ((int)get_sub_group_local_id())
#define SUBGROUP ((int)get_sub_group_id())
#define SUBGROUP_SIZE ((int)get_sub_group_size())
#define SUBGROUP_COUNT ((int)get_num_sub_groups())
#define SUBGROUP_MOST GROUP
#endif
#ifndef SUBGROUP_MEMORY
#define SUBGROUP_MEMORY
#endif
#define GROUP_MEMORY(COUNT) local float shared_[SUBGROUP_MOST * (COUNT)]; SUBGROUP_MEMORY
// A sub-group's first item has its result: at each step the first of every block of items finds the block's behind it, if there is one.
#define SHARE_ALL(COUNT, values, combine) { \
    for (int step_ = 1; step_ < SUBGROUP_SIZE; step_ *= 2) { \
        _Pragma("unroll") for (int i_ = 0; i_ < (COUNT); i_++) { \
            float a = values[i_], b = EXCHANGE(a, step_); \
            if ((LANE ^ step_) < SUBGROUP_SIZE) values[i_] = combine; \
        } \
    } \
    if (LANE == 0) { \
        _Pragma("unroll") for (int i_ = 0; i_ < (COUNT); i_++) shared_[SUBGROUP * (COUNT) + i_] = values[i_]; \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); \
    _Pragma("unroll") for (int i_ = 0; i_ < (COUNT); i_++) values[i_] = shared_[i_]; \
    for (int next_ = 1; next_ < SUBGROUP_COUNT; next_++) { \
        _Pragma("unroll") for (int i_ = 0; i_ < (COUNT); i_++) { \
            float a = values[i_], b = shared_[next_ * (COUNT) + i_]; \
            values[i_] = combine; \
        } \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); }
#else
#define GROUP_MEMORY(COUNT) local float shared_[GROUP * (COUNT)];
#define SHARE_ALL(COUNT, values, combine) { \
    _Pragma("unroll") for (int i_ = 0; i_ < (COUNT); i_++) shared_[i_ * GROUP + MEMBER] = values[i_]; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    for (int width_ = GROUP; width_ > 1;) { \
        int half_ = (width_ + 1) / 2; \
        if (MEMBER + half_ < width_) { \
            _Pragma("unroll") for (int i_ = 0; i_ < (COUNT); i_++) { \
                float a = shared_[i_ * GROUP + MEMBER], b = shared_[i_ * GROUP + MEMBER + half_]; \
                shared_[i_ * GROUP + MEMBER] = combine; \
            } \
        } \
        barrier(CLK_LOCAL_MEM_FENCE); \
        width_ = half_; \
    } \
    _Pragma("unroll") for (int i_ = 0; i_ < (COUNT); i_++) values[i_] = shared_[i_ * GROUP]; \
    barrier(CLK_LOCAL_MEM_FENCE); }
#endif
#endif
