// The code for graphics cards (`gpu.py`). It sums in the same order as `_kernels.gaussian`.

extern "C" {
typedef long long whole;

__device__ double given_one(double xy, double xz, double yz, double tolerance) {
    double left_x = 1.0 - xz * xz, left_y = 1.0 - yz * yz;
    if (left_x < tolerance || left_y < tolerance) return 0.0;
    return fmin(fabs(xy - xz * yz) / sqrt(left_x * left_y), 1.0);
}

// the upper half of a table becomes the mirror image of the lower one
__global__ void mirror(double* table, whole n) {
    whole at = (whole)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * n) return;
    whole i = at / n, j = at % n;
    if (i < j) table[at] = table[j * n + i];
}

__global__ void correlate(const double* products, const double* scale, const whole* place, whole n, double* made) {
    whole at = (whole)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * n) return;
    whole i = at / n, j = at % n, a = place[i], b = place[j];
    double value = products[a * n + b] / (scale[a] * scale[b]);
    made[at] = i == j ? 1.0 : fmin(fmax(value, -1.0), 1.0);
}

// one warp for each row
__global__ void count_pairs(const double* matrix, const int* order, whole p, whole n, whole first, whole end,
                            double least, whole* count) {
    whole i = first + ((whole)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (i >= end) return;
    const double* row = matrix + (whole)order[i] * p;
    whole found = 0;
    for (whole begin = i + 1; begin < n; begin += 32) {
        whole j = begin + lane;
        bool is_in = j < n && fmin(fabs(row[order[j < n ? j : i]]), 1.0) >= least;
        found += __popc(__ballot_sync(0xffffffffu, is_in));
    }
    if (lane == 0) count[i - first + 1] = found;
}

__global__ void write_pairs(const double* matrix, const int* order, whole p, whole n, whole first, whole end,
                            double least, const whole* start, int* x, int* y, double* strengths) {
    whole i = first + ((whole)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (i >= end) return;
    const double* row = matrix + (whole)order[i] * p;
    whole at = start[i - first];
    for (whole begin = i + 1; begin < n; begin += 32) {
        whole j = begin + lane;
        double rho = fmin(fabs(row[order[j < n ? j : i]]), 1.0);
        bool is_in = j < n && rho >= least;
        unsigned all = __ballot_sync(0xffffffffu, is_in);
        if (is_in) {
            whole place = at + __popc(all & ((1u << lane) - 1u));
            x[place] = (int)i; y[place] = (int)j; strengths[place] = rho;
        }
        at += __popc(all);
    }
}

__device__ bool is_listed(const int* neighbour, whole low, whole high, int node) {
    whole end = high;
    while (low < high) {
        whole middle = (low + high) / 2;
        if (neighbour[middle] < node) low = middle + 1; else high = middle;
    }
    return low < end && neighbour[low] == node;
}

// one warp for each edge: the neighbours of x in the edge's block, then those of y that are not also neighbours of x
__global__ void singles(const double* matrix, const int* order, const whole* start, const int* neighbour,
                        const whole* block, const int* xs, const int* ys, const whole* edge_block, whole p, whole m,
                        double tolerance, double margin, double* least, whole* n_nodes, whole* n_near, int* nodes,
                        bool* has_both) {
    whole k = ((whole)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (k >= m) return;
    int x = xs[k], y = ys[k];
    whole here = edge_block[k], low_x = start[x], high_x = start[x + 1];
    const double* row_x = matrix + (whole)order[x] * p;
    const double* row_y = matrix + (whole)order[y] * p;
    double xy = row_x[order[y]], smallest = 2.0;
    int of_x = 0, of_y = 0, both = 0, near = 0, node = -1;
    for (int turn = 0; turn < 2; turn++) {
        for (int side = 0; side < 2; side++) {
            int own = side ? y : x, other = side ? x : y;
            for (whole e = start[own] + lane; e < start[own + 1]; e += 32) {
                int v = neighbour[e];
                if (v == other || block[e] != here) continue;
                bool is_again = side && is_listed(neighbour, low_x, high_x, v);
                if (turn == 0) { if (side) { of_y++; both += is_again; } else of_x++; }
                if (is_again) continue;
                double strength = given_one(xy, row_x[order[v]], row_y[order[v]], tolerance);
                if (turn == 0) smallest = fmin(smallest, strength);
                else if (strength <= smallest + margin) { near++; node = v; }
            }
        }
        for (int step = 16; step; step /= 2) {
            if (turn == 0) {
                smallest = fmin(smallest, __shfl_xor_sync(0xffffffffu, smallest, step));
                of_x += __shfl_xor_sync(0xffffffffu, of_x, step);
                of_y += __shfl_xor_sync(0xffffffffu, of_y, step);
                both += __shfl_xor_sync(0xffffffffu, both, step);
            } else {
                near += __shfl_xor_sync(0xffffffffu, near, step);
                node = max(node, __shfl_xor_sync(0xffffffffu, node, step));
            }
        }
    }
    if (lane == 0) {
        least[k] = smallest; n_nodes[k] = of_x + of_y - both; n_near[k] = near; nodes[k] = node;
        has_both[k] = of_x > 0 && of_y > 0;
    }
}
}
