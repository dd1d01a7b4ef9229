/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* normalize: maps hold x / N as floats, and constants contain the ratios N. The network computes the same.
 *
 *     x:fp32[1,8] = input()            x:fp32[1,8] = input()
 *     y:fp32[1,4] = matmul(x, w, b)    n:normalized{Nx}[1,8] = cast(x)
 *     z:fp32[1,4] = relu(y)       ->   y:normalized{Nz}[1,4] = matmul(n, w*Nx/Nz, b/Nz)
 *     output(z)                        z:normalized{Nz}[1,4] = relu(y)
 *                                      r:fp32[1,4] = cast(z)
 *                                      output(r)
 */
#include "quantize.h"
#include "support/upkeep.h"

static const xir_pass_option options[] = {
    RANGE_OPTIONS,
    { "bits",      XIR_PASS_INT,  "8",      "of the integers that maps will be: 2 to 16"                     },
    { "per",       XIR_PASS_TEXT, "tensor", "what has a ratio: tensor, or channel, an element of the last dim" },
    { "precision", XIR_PASS_TEXT, "",       "a CSV of ops with other bits: op,type,bits,per,saturation, or its text" },
    { "keep",      XIR_PASS_TEXT, "",       "names of ops that stay in floats: \"conv1;head/fc\""            },
    { "strict",    XIR_PASS_BOOL, "false",  "an op that would stay in floats is an error"                    },
};

static xir_status run(xir_pass *at) {
    quantizing q = { .at = at, .net = at->net, .real_maps = true, .symmetric = true, .per_channel = true };
    const int64_t bits = xir_pass_int(at, "bits");
    bool channels = false, again;
    q.scheme = (scheme){ .name = "normalize", .normalised = true, .map_bits = 8, .wide_bits = 16 };
    xir_status status = read_choice(at, "per", "tensor", "channel", &channels);
    if (status) return status;
    if (bits < 2 || bits > 16)
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "bits: expected 2 to 16, found %lld", (long long)bits);
    q.bits = (uint32_t)bits;
    q.even_maps = !channels;
    q.ranges.channels = channels;
    q.strict = xir_pass_bool(at, "strict");
    q.keep = xir_pass_text(at, "keep");
    status = check_kept(&q);
    if (status) return status;
    const xir_op *stored = find_stored(at->net, &again);
    if (!stored) return quantize_run(&q, NULL);
    xir_pass_diag(at, XIR_NOTE, stored, "the network is %s already: nothing is done",
                  again ? "normalised" : "quantised");
    return XIR_OK;
}

const xir_pass_decl pass_normalize = {
    XIR_PASS_HEAD("normalize", "values are divided by ratios, and constants contain the ratios"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options,
    .run = run,
};
