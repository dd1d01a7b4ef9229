/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* OpenBLAS: products of matrices of doubles. Its sums depend on the processor and on the number of threads. */
#include "../peer.h"

#include <cblas.h>

#include <cstdint>
#include <vector>

namespace {

struct Product {
    std::vector<double> x, k, y;
};

void *product_setup(const bench_input *)
{
    const std::size_t n = std::size_t{PRODUCT_SIZE} * PRODUCT_SIZE;
    openblas_set_num_threads(static_cast<int>(bench_threads));
    auto *p = new Product{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; i++) {
        p->x[i] = static_cast<double>(i % 1000) / 7;
        p->k[i] = static_cast<double>(i % 977) / 3;
    }
    return p;
}

bool product_run(void *state, bench_result *out)
{
    auto *p = static_cast<Product *>(state);
    const int n = PRODUCT_SIZE;
    for (int i = 0; i < PRODUCTS; i++) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, p->x.data(), n, p->k.data(), n, 0,
                    p->y.data(), n);
    }
    out->count = std::uint64_t{PRODUCTS} * n * n * n;
    return p->y[0] > 0;
}

} // namespace

const bench_case openblas_cases[] = {
    {"exec-product", "OpenBLAS", BENCH_BY_BYTE, product_setup, product_run, nullptr, "cblas_dgemm of the same sizes"},
    {},
};
