/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compares XIR's verifier with the one that flatc generates from docs/xir.fbs, on damaged files that XIR wrote. That
 * one accepts what XIR accepts. It accepts more: it does not know newer tags, and ignores bytes that no field uses.
 *
 *     flat_official [count [seed]]        20000 damaged files by default, under a sanitizer a fifth
 *
 * Exits with 1 and a line about the first file that only XIR accepts; prints why XIR refused files that it accepts. */

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <flatbuffers/flatbuffers.h>
#include <xir/xir.h>

#include "xir_generated.h"
#include "support/often.h"
#include "support/program.h"

namespace {

std::uint64_t state;

/* splitmix64 */
std::uint64_t next()
{
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

std::uint64_t chance(std::uint64_t n) { return next() % n; }

using Bytes = std::vector<std::uint8_t>;

bool append(void *user, const void *data, size_t size)
{
    auto *out = static_cast<Bytes *>(user);
    const auto *p = static_cast<const std::uint8_t *>(data);
    out->insert(out->end(), p, p + size);
    return true;
}

/* One of everything that a slot may hold. */
const char *const texts[] = {
    R"j({"_type_key":"icraft::xir::Network","ai_target":"@zhuget(330)","icraft_xir_version":"3.33.1.0","name":"n","ops":[)j"
    R"j({"_type_key":"icraft::xir::Input","compile_target":"@hostt","inputs":[],"name":"in","op_id":0,"outputs":[{"_type_key":"icraft::xir::Value",)j"
    R"j("dtype":{"_type_key":"icraft::xir::TensorType","element_dtype":{"_type_key":"icraft::xir::QuantizedType","expressed_dtype":"@fp(32)",)j"
    R"j("scale":"@exp_scales([axis=-1]3/3/0.375)","storage_dtype":"@sint(8)","zero_points":[0]},"layout":"@layout(NCc32)",)j"
    R"j("merged_distrs":["@merged_distr([1, 2]^ZERO:{v:[0, 3), u:[3, 32)})"],"shape":[1,1,32]},"mtype":"@chunk(1@2)","name":"","tags":{"t":[1]},"v_id":1}],"tags":{}},)j"
    R"j({"_type_key":"icraft::xir::Add","alpha":[1.5,2],"beta":[true],"compile_target":"@buyit","cut_scale":"@scales([axis=-1]0.5,1)","inputs":[)j"
    R"j({"_type_key":"icraft::xir::Params","_allow_no_data":true,"dtype":"@sint(4)","mtype":"@ocm(7)","name":"p","tags":{},"v_id":9}],"name":"a","op_id":3,"outputs":[],"tags":{}},)j"
    R"j({"_type_key":"icraft::xir::HardOp","compile_target":"@fpgat","device_info":{"k":1},"inputs":[],"instr":[{"_type_key":"icraft::xir::Params",)j"
    R"j("_allow_no_data":true,"dtype":"@bool","v_id":11}],"layer_count":1,"name":"h","op_id":5,"origin_ops_id":[1,2,3],"outputs":[],"params":[],"sub_hard_ops":[)j"
    R"j({"_type_key":"icraft::xir::HardOp","inputs":[],"op_id":6,"outputs":[]}],"tags":{},"zeta":[{}]},)j"
    R"j({"_type_key":"someone::Op","inputs":[],"op_id":8,"outputs":[],"x":{"_type_key":"icraft::xir::Params","dtype":"@bool","v_id":12}},)j"
    R"j({"_type_key":"icraft::xir::Argmax","dim":-1,"inputs":[],"keepdim":true,"op_id":9,"outputs":[]},)j"
    R"j({"_type_key":"icraft::xir::AlignAxis","aligned_units":[{"_type_key":"icraft::xir::AlignedUnit","index":[1],"unit":[2]}],"inputs":[],"op_id":10,"outputs":[]}],)j"
    R"j("params_bytes":3,"params_md5":"x","tags":{}})j",
    R"j({"_type_key":"icraft::xir::Network","ops":[{"_type_key":"icraft::xir::Abs","inputs":[],"op_id":0,"outputs":[]}]})j",
};

/* A file that shares as little as those of the original's writer, for tearing offsets. */
Bytes written(xir_context *ctx, const char *text)
{
    Bytes out;
    xir_diags *why = xir_diags_new(ctx);
    xir_network *net = xir_json_read(ctx, xir_str_of(text), XIR_STR("oracle"), why);
    xir_save_options options = XIR_INIT(xir_save_options);
    options.format = "fb";
    options.align = 8;
    options.unchecked = true;
    if (!net || xir_network_write(net, append, &out, &options, why) != XIR_OK) {
        xir_diags_print(why, stderr);
        std::exit(1);
    }
    xir_network_free(net);
    xir_diags_free(why);
    return out;
}

void damage(Bytes &b)
{
    for (std::uint64_t k = chance(3) + 1; k > 0; k--) {
        std::size_t at = chance(b.size());
        switch (chance(5)) {
        case 0: b[at] ^= static_cast<std::uint8_t>(1u << chance(8)); break;
        case 1: b[at] = static_cast<std::uint8_t>(chance(4) ? chance(16) : 255); break;
        case 2: {
            std::size_t word = at & ~std::size_t{3};
            std::uint32_t v = static_cast<std::uint32_t>(chance(2) ? chance(b.size()) & ~std::uint64_t{3}
                                                         : next() >> (32 + chance(32)));
            if (word + 4 <= b.size()) std::memcpy(&b[word], &v, 4);
            break;
        }
        case 3: {
            std::size_t n = chance(24), from = chance(b.size());
            if (at + n <= b.size() && from + n <= b.size()) std::memmove(&b[at], &b[from], n);
            break;
        }
        default:
            if (chance(4) == 0) b.resize(at + 1);
            else if (at % 2 == 0 && at + 2 <= b.size()) b[at] = static_cast<std::uint8_t>(b[at] + 4 * (chance(5) - 2));
            break;
        }
    }
}

/* The finding without its variable parts: words with digits, names of tables and unions. */
std::string kind_of(const xir_diag *d)
{
    std::string out = xir_status_name(d->code), message(d->message.data, d->message.size);
    out += ":";
    for (std::size_t at = 0; at < message.size();) {
        std::size_t end = message.find(' ', at);
        if (end == std::string::npos) end = message.size();
        std::string word = message.substr(at, end - at);
        bool name = word[0] >= 'A' && word[0] <= 'Z' && word != "UTF-8";
        bool has_digit = word.find_first_of("0123456789") != std::string::npos && word != "UTF-8";
        out += name ? " *" : has_digit ? " #" : " " + word;
        at = end + 1;
    }
    return out;
}

} // namespace

GROUP
{
    long count = group_argc > 1 ? std::atol(group_argv[1]) : OFTEN(20000);
    state = group_argc > 2 ? std::strtoull(group_argv[2], nullptr, 0) : 1;
    xir_context *ctx = xir_context_new(nullptr);
    xir_diags *why = xir_diags_new(ctx);
    std::vector<Bytes> whole;
    for (const char *text : texts) whole.push_back(written(ctx, text));
    std::map<std::string, long> stricter;
    long both = 0, neither = 0;
    for (long i = 0; i < count; i++) {
        Bytes b = whole[chance(8) ? 0 : 1];
        if (i) damage(b);
        flatbuffers::Verifier verifier(b.data(), b.size(), 1000000, 1000000000);
        bool theirs = fbs::VerifyNetworkBuffer(verifier);
        xir_diags_clear(why);
        bool own = xir_flat_verify(ctx, b.data(), b.size(), XIR_STR(""), why) == XIR_OK;
        if (own && !theirs) {
            std::printf("file %ld is accepted only by XIR\n", i);
            if (FILE *f = group_argc > 3 ? std::fopen(group_argv[3], "wb") : nullptr) {
                std::fwrite(b.data(), 1, b.size(), f);
                std::fclose(f);
            }
            return 1;
        }
        both += own;
        neither += !theirs;
        if (theirs && !own) stricter[kind_of(xir_diags_at(why, 0))]++;
    }
    std::printf("%ld accepted by both, %ld by neither; only theirs:\n", both, neither);
    for (const auto &[kind, n] : stricter) std::printf("%8ld %s\n", n, kind.c_str());
    xir_diags_free(why);
    xir_context_free(ctx);
    return both > 0 && neither > 0 ? 0 : 1;
}
