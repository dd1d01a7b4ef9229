/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The Python of each operator type of PNNX: PyTorch's function or module of the same name, with its parameters. A type
 * without a row is refused, so no text of a file is ever called. The notation is in python.h. */
#include "python/python.h"

#define CALL(type, args, keys)          { type, PYTHON_CALL,   PYTHON_ONE, args, keys, "", NULL, NULL }
#define CALL_AS(type, as, args, keys)   { type, PYTHON_CALL,   PYTHON_ONE, args, keys, "", NULL, as }
#define GIVES(results, type, args, keys) { type, PYTHON_CALL,  PYTHON_##results, args, keys, "", NULL, NULL }
#define METHOD(type, args, keys)        { type, PYTHON_METHOD, PYTHON_ONE, args, keys, "", NULL, NULL }
#define PACK(type, results, keys)       { type, PYTHON_PACK,   PYTHON_##results, "", keys, "", NULL, NULL }
#define MODULE(type, keys, weights)     { type, PYTHON_MODULE, PYTHON_ONE, "input", keys, weights, NULL, NULL }
#define HOOK(type, args, keys, hook)    { type, PYTHON_HOOK,   PYTHON_ONE, args, keys, "", python_##hook, NULL }
/* A function or a module whose parameters a hook changes. */
#define CHANGED(form, results, type, args, keys, hook) \
                                        { type, PYTHON_##form, PYTHON_##results, args, keys, "", python_##hook, NULL }
#define HOOKED(type, args, keys, weights, hook) \
                                        { type, PYTHON_HOOK,   PYTHON_ONE, args, keys, weights, python_##hook, NULL }
/* A module and a function with the same parameters. */
#define BOTH(module, function, keys)    MODULE("nn." module, keys, ""), CALL("F." function, "input", keys)

#define CONV_KEYS "in_channels! out_channels! kernel_size! stride padding dilation groups bias padding_mode"
#define POOL_KEYS "kernel_size! stride padding"
#define NORM_KEYS "num_features! eps affine track_running_stats momentum"
#define CELLS     "input_size! hidden_size! num_layers bias batch_first bidirectional -dropout"
#define SLICES    "dim dims starts ends steps selects start end step"

/* Rows of one number of dims. */
#define DIMS(n)                                                                                                        \
    MODULE("nn.Conv" #n "d", CONV_KEYS, "weight bias=bias"),                                                           \
    MODULE("nn.ConvTranspose" #n "d", CONV_KEYS " output_padding", "weight bias=bias"),                                \
    CALL("F.conv" #n "d", "input weight bias?", "stride padding dilation groups"),                                     \
    CALL("F.conv_transpose" #n "d", "input weight bias?", "stride padding output_padding groups dilation"),            \
    { "nn.MaxPool" #n "d", PYTHON_MODULE, PYTHON_INDICES, "input", POOL_KEYS " dilation ceil_mode -return_indices",    \
      "", NULL, NULL },                                                                                                \
    GIVES(INDICES, "F.max_pool" #n "d", "input", POOL_KEYS " dilation ceil_mode -return_indices"),                     \
    MODULE("nn.LPPool" #n "d", "norm_type! kernel_size! stride ceil_mode", ""),                                        \
    CALL("F.lp_pool" #n "d", "input", "norm_type! kernel_size! stride ceil_mode"),                                     \
    CHANGED(MODULE, ONE, "nn.AdaptiveAvgPool" #n "d", "input", "output_size!", pool_to),                               \
    CHANGED(CALL, ONE, "F.adaptive_avg_pool" #n "d", "input", "output_size!", pool_to),                                \
    CHANGED(MODULE, INDICES, "nn.AdaptiveMaxPool" #n "d", "input", "output_size! -return_indices", pool_to),           \
    CHANGED(CALL, INDICES, "F.adaptive_max_pool" #n "d", "input", "output_size! -return_indices", pool_to),            \
    MODULE("nn.BatchNorm" #n "d", NORM_KEYS, "running_mean running_var weight=affine bias=affine"),                    \
    MODULE("nn.InstanceNorm" #n "d", NORM_KEYS, "running_mean=track_running_stats running_var=track_running_stats "    \
           "weight=affine bias=affine"),                                                                               \
    MODULE("nn.ConstantPad" #n "d", "padding! value!", ""),                                                            \
    MODULE("nn.ReflectionPad" #n "d", "padding!", ""),                                                                 \
    MODULE("nn.ReplicationPad" #n "d", "padding!", "")

#define FOURIER(name, size) CALL("torch.fft." name, "input", size " dim norm")
#define TRANSFORMS(prefix)                                                                                             \
    FOURIER(prefix "fft", "n"), FOURIER(prefix "fft2", "s"), FOURIER(prefix "fftn", "s")

static const python_row rows[] = {
    /* what PNNX makes itself */
    HOOK("pnnx.Expression",    "", "expr!",    expression),
    HOOKED("pnnx.Attribute",   "", "", "*",    attribute),
    HOOK("pnnx.SliceIndexes",  "", "indexes!", expression),
    HOOK("prim::TupleConstruct", "", "", tuple),
    HOOK("prim::ListConstruct",  "", "", list),
    HOOK("prim::TupleUnpack",    "", "", unpacked),
    HOOK("prim::ListUnpack",     "", "", unpacked),

    /* elementwise, one input */
    BOTH("ReLU", "relu", "-inplace"),             BOTH("ReLU6", "relu6", "-inplace"),
    BOTH("Sigmoid", "sigmoid", "-inplace"),       BOTH("Tanh", "tanh", "-inplace"),
    BOTH("SiLU", "silu", "-inplace"),             BOTH("Mish", "mish", "-inplace"),
    BOTH("Hardsigmoid", "hardsigmoid", "-inplace"), BOTH("Hardswish", "hardswish", "-inplace"),
    BOTH("LogSigmoid", "logsigmoid", "-inplace"), BOTH("Softsign", "softsign", "-inplace"),
    BOTH("Tanhshrink", "tanhshrink", "-inplace"), BOTH("SELU", "selu", "-inplace"),
    BOTH("LeakyReLU", "leaky_relu", "negative_slope -inplace"),
    BOTH("ELU", "elu", "alpha -inplace"),         BOTH("CELU", "celu", "alpha -inplace"),
    BOTH("Hardtanh", "hardtanh", "min_val max_val -inplace"),
    BOTH("Hardshrink", "hardshrink", "lambd"),    BOTH("Softshrink", "softshrink", "lambd"),
    BOTH("Softplus", "softplus", "beta threshold"), BOTH("GELU", "gelu", "approximate"),
    BOTH("GLU", "glu", "dim"),                    BOTH("Threshold", "threshold", "threshold! value! -inplace"),
    BOTH("RReLU", "rrelu", "lower upper -inplace -training"),
    MODULE("nn.Softmax", "dim", ""),              CALL("F.softmax", "input", "dim dtype"),
    MODULE("nn.LogSoftmax", "dim", ""),           CALL("F.log_softmax", "input", "dim dtype"),
    MODULE("nn.Softmin", "dim", ""),              CALL("F.softmin", "input", "dim dtype"),
    MODULE("nn.Softmax2d", "", ""),               CALL("torch.softmax", "input", "dim! dtype"),
    CALL("torch.log_softmax", "input", "dim! dtype"),
    MODULE("nn.PReLU", "num_parameters", "weight"), CALL("F.prelu", "input weight", ""),
    MODULE("nn.Dropout", "p -inplace", ""),       MODULE("nn.Dropout2d", "p -inplace", ""),
    MODULE("nn.Dropout3d", "p -inplace", ""),     MODULE("nn.AlphaDropout", "p -inplace", ""),
    HOOK("F.dropout", "input", "p -training -inplace", dropout),
    MODULE("nn.Identity", "", ""),
    METHOD("Tensor.clone", "input", "memory_format"), CALL("torch.clone", "input", "memory_format"),
    METHOD("Tensor.contiguous", "input", "memory_format"), METHOD("Tensor.detach", "input", ""),
    CALL("torch.positive", "input", ""),          CALL("torch.clamp", "input min?# max?#", ""),
    METHOD("Tensor.to", "input", "dtype copy memory_format non_blocking -device"),
    METHOD("Tensor.type_as", "input other", ""),
    CALL_AS("Tensor.fill", "torch.fill", "input value#", ""),
    METHOD("Tensor.masked_fill", "input mask value#", ""), CALL("torch.masked_fill", "input mask value#", ""),
    CALL("torch.logit", "input", "eps"),          CALL("torch.lgamma", "input", ""),

    /* elementwise, two inputs */
    CALL("torch.eq", "input other#", ""), CALL("torch.ne", "input other#", ""), CALL("torch.lt", "input other#", ""),
    CALL("torch.le", "input other#", ""), CALL("torch.gt", "input other#", ""), CALL("torch.ge", "input other#", ""),
    CALL("torch.logical_and", "input other", ""), CALL("torch.logical_or", "input other", ""),
    CALL("torch.logical_xor", "input other", ""), CALL("torch.logical_not", "input", ""),
    CALL("torch.bitwise_and", "input other#", ""), CALL("torch.bitwise_or", "input other#", ""),
    CALL("torch.bitwise_xor", "input other#", ""), CALL("torch.bitwise_not", "input", ""),
    CALL("torch.bitwise_left_shift", "input other#", ""), CALL("torch.bitwise_right_shift", "input other#", ""),
    CALL("torch.where", "condition input# other#", ""), CALL("torch.outer", "input vec2", ""),
    CALL("torch.cross", "input other", "dim"),

    /* products */
    MODULE("nn.Linear", "in_features! out_features! bias", "weight bias=bias"),
    CALL("F.linear", "input weight bias?", ""),   CALL("torch.matmul", "input other", ""),
    CALL("torch.bmm", "input mat2", ""),          CALL("torch.mm", "input mat2", ""),
    CALL("torch.mv", "input vec", ""),            CALL("torch.addmm", "input mat1 mat2", "beta alpha"),
    CALL("torch.baddbmm", "input batch1 batch2", "beta alpha"),
    PACK("torch.einsum", ONE, "equation!"),
    HOOKED("nn.MultiheadAttention", "query key? value? attn_mask?",
           "embed_dim! num_heads! bias add_bias_kv add_zero_attn kdim vdim batch_first",
           "in_proj_weight? q_proj_weight? k_proj_weight? v_proj_weight? in_proj_bias=bias out_proj.weight "
           "out_proj.bias=bias bias_k=add_bias_kv bias_v=add_bias_kv", attention),
    CALL("F.scaled_dot_product_attention", "query key value attn_mask?", "-dropout_p is_causal scale enable_gqa"),

    /* windows and sizes */
    DIMS(1), DIMS(2), DIMS(3),
    MODULE("nn.AvgPool1d", POOL_KEYS " ceil_mode count_include_pad", ""),
    MODULE("nn.AvgPool2d", POOL_KEYS " ceil_mode count_include_pad divisor_override", ""),
    MODULE("nn.AvgPool3d", POOL_KEYS " ceil_mode count_include_pad divisor_override", ""),
    CALL("F.avg_pool1d", "input", POOL_KEYS " ceil_mode count_include_pad"),
    CALL("F.avg_pool2d", "input", POOL_KEYS " ceil_mode count_include_pad divisor_override"),
    CALL("F.avg_pool3d", "input", POOL_KEYS " ceil_mode count_include_pad divisor_override"),
    CHANGED(MODULE, ONE, "nn.Upsample", "input", "size scale_factor mode align_corners recompute_scale_factor", resize),
    CHANGED(MODULE, ONE, "nn.UpsamplingBilinear2d", "input", "size scale_factor", resize),
    CHANGED(MODULE, ONE, "nn.UpsamplingNearest2d", "input", "size scale_factor", resize),
    CHANGED(CALL, ONE, "F.upsample", "input size?#", "scale_factor mode align_corners", resize),
    CHANGED(CALL, ONE, "F.upsample_nearest", "input size?#", "scale_factor", resize),
    CHANGED(CALL, ONE, "F.upsample_bilinear", "input size?#", "scale_factor", resize),
    CHANGED(CALL, ONE, "F.interpolate", "input size?#",
            "scale_factor mode align_corners recompute_scale_factor antialias", resize),
    CALL("F.grid_sample", "input grid", "mode padding_mode align_corners"),
    CALL("F.affine_grid", "theta size#", "align_corners"),
    BOTH("PixelShuffle", "pixel_shuffle", "upscale_factor!"),
    BOTH("PixelUnshuffle", "pixel_unshuffle", "downscale_factor!"),
    MODULE("nn.ChannelShuffle", "groups!", ""),   CALL("F.channel_shuffle", "input", "groups!"),
    BOTH("Fold", "fold", "output_size! kernel_size! dilation padding stride"),
    BOTH("Unfold", "unfold", "kernel_size! dilation padding stride"),
    MODULE("nn.ZeroPad2d", "padding!", ""),       CALL("F.pad", "input pad#", "mode value"),

    /* normalisations */
    CALL("F.batch_norm", "input running_mean running_var weight? bias?", "eps"),
    CALL("F.instance_norm", "input -running_mean -running_var weight? bias?", "eps"),
    MODULE("nn.GroupNorm", "num_groups! num_channels! eps affine", "weight=affine bias=affine"),
    CALL("F.group_norm", "input num_groups weight? bias?", "eps"),
    MODULE("nn.LayerNorm", "normalized_shape! eps elementwise_affine",
           "weight=elementwise_affine bias=elementwise_affine"),
    CALL("F.layer_norm", "input normalized_shape weight? bias?", "eps"),
    MODULE("nn.RMSNorm", "normalized_shape! eps elementwise_affine", "weight=elementwise_affine"),
    CALL("F.rms_norm", "input normalized_shape weight?", "eps"),
    BOTH("LocalResponseNorm", "local_response_norm", "size! alpha beta k"),
    CALL("F.normalize", "input", "p dim eps"),    CALL("F.pairwise_distance", "x1 x2", "p eps keepdim"),

    /* reductions */
    CHANGED(CALL, ONE, "torch.mean", "input", "dim keepdim dtype", reduce),
    CHANGED(CALL, ONE, "torch.sum", "input", "dim keepdim dtype", reduce),
    CHANGED(CALL, ONE, "torch.amax", "input", "dim keepdim", reduce),
    CHANGED(CALL, ONE, "torch.amin", "input", "dim keepdim", reduce),
    HOOK("torch.prod", "input", "dim keepdim dtype", each_dim),
    HOOK("torch.any", "input", "dim keepdim", each_dim), HOOK("torch.all", "input", "dim keepdim", each_dim),
    CALL("torch.logsumexp", "input", "dim! keepdim"),
    CHANGED(CALL, ONE, "torch.std", "input", "dim keepdim unbiased correction", reduce),
    CHANGED(CALL, ONE, "torch.var", "input", "dim keepdim unbiased correction", reduce),
    CALL("torch.norm", "input", "p dim keepdim dtype"),
    GIVES(BY_DIM, "torch.max", "input other?", "dim keepdim"),
    GIVES(BY_DIM, "torch.min", "input other?", "dim keepdim"),
    CALL("torch.argmax", "input", "dim keepdim"), CALL("torch.argmin", "input", "dim keepdim"),
    GIVES(PAIR, "torch.topk", "input", "k! dim largest sorted"),
    GIVES(PAIR, "torch.sort", "input", "stable dim descending"),
    CALL("torch.argsort", "input", "stable dim descending"),
    CALL("torch.cumsum", "input", "dim! dtype"),  CALL("torch.cumprod", "input", "dim! dtype"),

    /* moved elements */
    HOOK("Tensor.reshape", "input shape?#", "shape", reshape), HOOK("torch.reshape", "input shape?#", "shape", reshape),
    HOOK("Tensor.view", "input shape?#", "shape", reshape),
    METHOD("Tensor.reshape_as", "input other", ""), METHOD("Tensor.expand_as", "input other", ""),
    METHOD("Tensor.permute", "input dims#", ""),  CALL("torch.permute", "input dims#", ""),
    CALL("torch.transpose", "input dim0# dim1#", ""), CALL("torch.t", "input", ""),
    CALL("torch.flatten", "input", "start_dim end_dim"), MODULE("nn.Flatten", "start_dim end_dim", ""),
    METHOD("Tensor.unflatten", "input dim# sizes#", ""),
    HOOK("torch.squeeze", "input", "dim", each_dim), CHANGED(CALL, ONE, "torch.unsqueeze", "input", "dim!", unsqueeze),
    HOOK("Tensor.slice", "input start?# end?# step?# starts?# ends?# steps?#", SLICES, slice),
    HOOK("Tensor.slice_copy", "self src start?# end?# step?# starts?# ends?# steps?#", SLICES, slice_copy),
    HOOK("torch.slice_scatter", "input src", "dim start end step", slice_copy),
    METHOD("Tensor.select", "input dim# index#", ""), CALL("torch.select", "input dim# index#", ""),
    CALL("torch.narrow", "input dim# start# length#", ""),
    METHOD("Tensor.expand", "input sizes#", ""),  METHOD("Tensor.repeat", "input sizes#", ""),
    CALL("torch.tile", "input dims#", ""),
    CALL("torch.repeat_interleave", "input repeats#", "dim output_size"),
    PACK("torch.cat", ONE, "dim"),                PACK("torch.stack", ONE, "dim"),
    GIVES(ALL, "torch.chunk", "input", "chunks! dim"),
    GIVES(ALL, "torch.split", "tensor", "split_size_or_sections! dim"),
    GIVES(ALL, "torch.tensor_split", "input", "indices sections dim"),
    GIVES(ALL, "torch.unbind", "input", "dim"),
    CALL("torch.roll", "input", "shifts! dims"),  CALL("torch.flip", "input", "dims!"),
    CALL("torch.diag", "input", "diagonal"),      CALL("torch.tril", "input", "diagonal"),
    CALL("torch.triu", "input", "diagonal"),      PACK("torch.meshgrid", ALL, "indexing"),

    /* elements by index */
    MODULE("nn.Embedding", "num_embeddings! embedding_dim! padding_idx -scale_grad_by_freq -sparse", "weight"),
    CALL("F.embedding", "input weight", "padding_idx -scale_grad_by_freq -sparse"),
    CALL("torch.index_select", "input dim# index", ""), CALL("torch.gather", "input dim# index", "-sparse_grad"),
    HOOK("Tensor.index", "input indices?#", "expr", index),
    HOOK("Tensor.index_put", "input indices# values?#", "values accumulate", index_put),
    CALL("torch.masked_select", "input mask", ""),
    CALL("torch.scatter_add", "input dim# index src", ""),
    CALL("torch.scatter", "input dim# index src? value?#", "reduce"),

    /* constants */
    CALL("torch.full", "size# fill_value#", "dtype"), CALL("torch.zeros", "size#", "dtype"),
    CALL("torch.ones", "size#", "dtype"),         CALL("torch.arange", "start?# end?# step?#", "dtype"),

    /* recurrent */
    HOOKED("nn.LSTM", "input hx? cx?", CELLS " proj_size", "*", recurrent),
    HOOKED("nn.GRU", "input hx?", CELLS, "*", recurrent),
    HOOKED("nn.RNN", "input hx?", CELLS " nonlinearity", "*", recurrent),

    /* complex elements */
    CALL("torch.complex", "real imag", ""),       CALL("torch.real", "input", ""),
    CALL("torch.imag", "input", ""),              CALL("torch.view_as_complex", "input", ""),
    CALL("torch.view_as_real", "input", ""),
    CALL("torch.stft", "input n_fft# hop_length?# win_length?# window?",
         "center pad_mode normalized onesided return_complex"),
    CALL("torch.istft", "input n_fft# hop_length?# win_length?# window?",
         "center normalized onesided length return_complex"),
    TRANSFORMS(""), TRANSFORMS("i"), TRANSFORMS("r"), TRANSFORMS("ir"), TRANSFORMS("h"), TRANSFORMS("ih"),
};

bool python_rows_begin(python_writer *w) {
    enum { ROWS = sizeof rows / sizeof *rows };
    bool ok = text_table_reserve(&w->rows, ROWS);
    for (uint32_t i = 0; i < ROWS && ok; i++) ok = text_table_add(&w->rows, xir_str_of(rows[i].type), i);
    return ok || python_no_memory(w);
}

const python_row *python_row_of(const python_writer *w, xir_str type) {
    const uint32_t *row = text_table_find(&w->rows, type);
    return row ? &rows[*row] : NULL;
}
