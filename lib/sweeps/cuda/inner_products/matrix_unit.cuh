// These functions are double-precision tensor-core instructions of one warp (PTX ISA, section "mma"). The position of a
// lane is given by its coordinates (c, r) = (lane / 4, lane % 4).
#pragma once

namespace cudaopt {

// Computes C += A B, where C is 8 x 8, A is 8 x 4 and B is 4 x 8. A lane supplies a = A[c][r] and b = B[r][c]. It holds
// C[c][2r] and C[c][2r + 1].
__device__ inline void multiply_8x8x4(double &c0, double &c1, double a, double b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c0), "+d"(c1)
        : "d"(a), "d"(b));
}

// Computes C += A B, where C is 16 x 8, A is 16 x 8 and B is 8 x 8. A lane supplies
//     upper0 = A[c][r],      upper1 = A[c][r + 4],      b0 = B[r][c],
//     lower0 = A[c + 8][r],  lower1 = A[c + 8][r + 4],  b1 = B[r + 4][c].
// It holds C[c][2r], C[c][2r + 1], C[c + 8][2r] and C[c + 8][2r + 1]. Devices before compute capability 9.0 need four
// instructions.
__device__ inline void multiply_16x8x8(double (&c)[4], double upper0, double lower0, double upper1, double lower1,
                                       double b0, double b1) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(upper0), "d"(lower0), "d"(upper1), "d"(lower1), "d"(b0), "d"(b1));
#else
    multiply_8x8x4(c[0], c[1], upper0, b0);
    multiply_8x8x4(c[0], c[1], upper1, b1);
    multiply_8x8x4(c[2], c[3], lower0, b0);
    multiply_8x8x4(c[2], c[3], lower1, b1);
#endif
}

} // namespace cudaopt
