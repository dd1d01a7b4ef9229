/* Windows of foreign convolutions and pools: see windows.h. */
#include "convert/windows.h"

const axis_words *axis_words_of(size_t n, size_t k) {
    static const axis_words words[3] = {   /* counted from the last axis */
        { "pool_width",  "stride_width",  "dilation_width",  "pad_left",  "pad_right",  "output_pad_width"  },
        { "pool_height", "stride_height", "dilation_height", "pad_top",   "pad_bottom", "output_pad_height" },
        { "pool_depth",  "stride_depth",  "dilation_depth",  "pad_front", "pad_back",   "output_pad_depth"  },
    };
    return &words[n - 1 - k];
}

bool node_windows_fit(xir_node *at, const windows *w) {
    for (size_t k = 0; k < w->n; k++) {
        int64_t room = w->input[k] + w->before[k] + w->after[k], window = w->dilation[k] * (w->size[k] - 1) + 1;
        if (w->input[k] < 0 || w->size[k] < 0 || room >= window) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0",
                                "dim %zu: expected at least %lld elements, like the kernel, found %lld and %lld of padding",
                                2 + k, (long long)window, (long long)w->input[k],
                                (long long)(w->before[k] + w->after[k]));
    }
    return true;
}

bool windows_round_up(windows *w) {
    bool any = false;
    for (size_t k = 0; k < w->n; k++) {
        const int64_t room = window_room(w, k), rest = room % w->stride[k];
        /* a window that would begin in the padding at the end does not count */
        const bool inside = (room / w->stride[k] + 1) * w->stride[k] < w->input[k] + w->before[k];
        if (room < 0 || !rest || !inside) continue;
        w->after[k] += w->stride[k] - rest;
        any = true;
    }
    return any;
}

void window_set(window_sets *s, const char *name, int64_t v) { s->data[s->n++] = (xir_set)INT(name, v); }

void window_set_all(window_sets *s, const windows *w, bool pool, bool dilated) {
    for (size_t k = 0; k < w->n; k++) {
        const axis_words *words = axis_words_of(w->n, k);
        if (pool) window_set(s, words->pool, w->size[k]);
        window_set(s, words->stride, w->stride[k]);
        if (dilated) window_set(s, words->dilation, w->dilation[k]);
        window_set(s, words->before, w->before[k]);
        window_set(s, words->after, w->after[k]);
    }
}
