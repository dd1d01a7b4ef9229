/* Dialects are registered like passes. After the checks, the prefix, the rows and the dialect's name for the pass
 * to-xir enter the lists of the context together. A row is looked up by name among all rows. */
#include "convert/convert.h"
#include "manager/pass.h"
#include "manager/pipeline.h"
#include "sized.h"

enum { MOST_ROWS = 1 << 16, LEAST_DIALECT = SIZE_TO(xir_dialect_decl, is_pure) };

/* ---- parts of keys and places ----------------------------------------------------------------------------------- */

void convert_split_key(const xir_dialect_decl *dialect, xir_str key, xir_str *domain, xir_str *type) {
    const size_t from = strlen(dialect->prefix);
    *domain = (xir_str){ key.data, 0 };
    *type = (xir_str){ key.data + from, key.size - from };
    if (dialect->split) dialect->split(*type, domain, type);
}

int64_t convert_number(const xir_dialect_decl *dialect, const xir_op *op) {
    if (!dialect) return xir_op_id(op);
    return dialect->number ? dialect->number(op) : xir_op_id(op) - 1;
}

#define WORD(member, otherwise) return dialect && dialect->member ? dialect->member : (otherwise)
const char *convert_node(const xir_dialect_decl *dialect) { WORD(node, "op"); }
const char *convert_nodes(const xir_dialect_decl *dialect) { WORD(nodes, "/ops/"); }
const char *convert_results(const xir_dialect_decl *dialect) { WORD(results, "/outputs/"); }
const char *convert_sources(const xir_dialect_decl *dialect) { WORD(sources, "network input or constant"); }
const char *convert_operators(const xir_dialect_decl *dialect) { WORD(operators, "set of operations"); }

/* Whether a declaration has a member that was added after the first version of the struct. */
#define HAS(d, member) ((d)->size >= SIZE_TO(xir_dialect_decl, member) && (d)->member)

bool convert_check(const xir_dialect_decl *dialect, xir_node *at) {
    return !HAS(dialect, check) || dialect->check(at);
}
void convert_types(const xir_dialect_decl *dialect, xir_node *at) {
    if (HAS(dialect, types)) dialect->types(at);
}
const xir_type *convert_element(const xir_dialect_decl *dialect, const xir_value *v) {
    return HAS(dialect, element) ? dialect->element(v) : NULL;
}

const xir_any *convert_dims(const xir_dialect_decl *dialect, const xir_value *v) {
    return HAS(dialect, dims) ? dialect->dims(v) : NULL;
}

int64_t convert_newest(const xir_dialect_decl *dialect) { return HAS(dialect, newest) ? dialect->newest : 0; }
bool    convert_grows(const xir_dialect_decl *dialect)  { return HAS(dialect, grows); }

const char *convert_numbered(const xir_dialect_decl *dialect) {
    return HAS(dialect, numbered) ? dialect->numbered : NULL;
}
const char *convert_value(const xir_dialect_decl *dialect) { return HAS(dialect, value) ? dialect->value : "value"; }
uint32_t    convert_lacks(const xir_dialect_decl *dialect) { return HAS(dialect, lacks) ? dialect->lacks : 0; }

const xir_convert_row *convert_row_of(xir_context *ctx, const xir_dialect_decl *dialect, xir_str key) {
    enum { MOST_KEY = 200 };
    char text[MOST_KEY];
    const xir_convert_row *row = xir_convert_find(ctx, key);
    const size_t prefix = strlen(dialect->prefix);
    if (row || !HAS(dialect, spelled)) return row;
    const size_t n = dialect->spelled((xir_str){ key.data + prefix, key.size - prefix }, text + prefix,
                                      sizeof text - prefix);
    if (!n || n > sizeof text - prefix) return NULL;
    memcpy(text, dialect->prefix, prefix);
    return xir_convert_find(ctx, (xir_str){ text, prefix + n });
}

xir_status convert_prepare(const xir_dialect_decl *dialect, xir_network *net, bool *changed) {
    return dialect && HAS(dialect, prepare) ? dialect->prepare(net, changed) : XIR_OK;
}

bool convert_checks_file(const xir_dialect_decl *dialect) { return dialect && HAS(dialect, check_file); }
xir_status convert_check_file(const xir_dialect_decl *dialect, const xir_network *net, xir_diags *why) {
    return convert_checks_file(dialect) ? dialect->check_file(net, why) : XIR_OK;
}

const xir_pass_decl *convert_back(const xir_dialect_decl *dialect) {
    return HAS(dialect, back) ? dialect->back : NULL;
}
const char *convert_before_back(const xir_dialect_decl *dialect) {
    return HAS(dialect, before_back) ? dialect->before_back : NULL;
}
xir_convert_fn *convert_function(const xir_dialect_decl *dialect, xir_node *at) {
    return HAS(dialect, function) ? dialect->function(at) : NULL;
}
xir_convert_fn *convert_rest(const xir_dialect_decl *dialect, xir_node *at, size_t i) {
    return HAS(dialect, rest) ? dialect->rest(at, i) : NULL;
}
xir_convert_fn *convert_instead(const xir_dialect_decl *dialect, xir_node *at) {
    return HAS(dialect, instead) ? dialect->instead(at) : NULL;
}
bool convert_needs_constants(const xir_dialect_decl *dialect) { return HAS(dialect, constant); }
xir_status convert_finish(const xir_dialect_decl *dialect, xir_network *net, bool *changed) {
    return HAS(dialect, finish) ? dialect->finish(net, changed) : XIR_OK;
}
xir_status convert_begin_back(const xir_dialect_decl *dialect, xir_pass *pass) {
    return HAS(dialect, begin_back) ? dialect->begin_back(pass) : XIR_OK;
}
xir_status convert_end_back(const xir_dialect_decl *dialect, xir_pass *pass) {
    return HAS(dialect, end_back) ? dialect->end_back(pass) : XIR_OK;
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

/* Checks a struct that begins with its ABI version and size: it has all fields of the first version, and none that is
 * unknown here is set. */
xir_status convert_check_size(const void *decl, size_t least, size_t known, const char *what, xir_diags *why) {
    const struct { uint32_t abi, size; } *head = decl;
    if (head->abi != XIR_ABI || head->size < least) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""), "a %s was declared for another version of the binary interface",
                         what);
    }
    for (size_t i = known; i < head->size; i++) {
        if (!((const char *)decl)[i]) continue;
        return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""),
                         "a %s sets a member that this version does not know: byte %zu is set, its size here "
                         "is %zu", what, i, known);
    }
    return XIR_OK;
}

static bool is_prefix(const char *text) {
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n && strcmp(text + n, "::") == 0 && strcmp(text, "icraft::") != 0 && strcmp(text, "xir::") != 0;
}

static xir_status check_dialect(xir_context *ctx, const void *const *items, size_t i, const char **name,
                                xir_diags *why) {
    const xir_dialect_decl *d = items[i];
    (void)ctx;
    xir_status status = convert_check_size(d, LEAST_DIALECT, sizeof *d, "dialect", why);
    if (status) return status;
    if (!d->prefix || !is_prefix(d->prefix)) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "'%.80s' is not a prefix for a dialect: expected lower-case letters, digits and _, "
                         "then ::", d->prefix ? d->prefix : "");
    }
    if (!d->name || !*d->name || (d->n_rows && !d->rows) || d->n_rows > MOST_ROWS) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the dialect '%.80s' has no name, no table, or too many rows",
                         d->prefix);
    }
    if (d->pass && !pipeline_is_name(xir_str_of(d->pass))) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "'%.80s' is not a name for a pass: expected lower-case letters, digits and dashes",
                         d->pass);
    }
    for (size_t k = 0; k < d->n_rows && !status; k++) {
        status = convert_check_row(d, d->rows, convert_row_at(d->rows, k), why);
    }
    *name = d->prefix;
    return status;
}

/* ---- registering ------------------------------------------------------------------------------------------------ */

/* A dialect also registers its rows, its name for the pass to-xir, and its way back. */
static size_t brings(const void *item, registry_item *out) {
    const xir_dialect_decl *d = item;
    if (d->abi != XIR_ABI || d->size < LEAST_DIALECT || d->n_rows > MOST_ROWS) return 0;
    for (size_t i = 0; out && i < d->n_rows; i++) {
        const xir_convert_row *row = convert_row_at(d->rows, i);
        out[i] = (registry_item){ REGISTRY_CONVERSION, row->name, row };
    }
    size_t n = d->n_rows;
    if (d->pass && out) out[n] = (registry_item){ REGISTRY_PASS, d->pass, &pass_to_xir };
    n += d->pass != NULL;
    const xir_pass_decl *back = HAS(d, back) ? d->back : NULL;
    if (back && out) out[n] = (registry_item){ REGISTRY_PASS, back->name, back };
    return n + (back != NULL);
}

const registry_rules dialect_rules = { .noun = "dialect", .check = check_dialect, .brings = brings };

xir_status dialect_register_own(xir_context *ctx, const xir_dialect_decl *d) {
    const size_t n = 1 + brings(d, NULL);
    registry_item *items = mem_new(context_alloc(ctx), n * sizeof *items);
    if (!items) return XIR_E_MEMORY;
    items[0] = (registry_item){ REGISTRY_DIALECT, d->prefix, d };
    (void)brings(d, items + 1);
    xir_status status = registry_add_own(ctx, items, n);
    mem_free(context_alloc(ctx), items, n * sizeof *items);
    return status;
}

xir_status xir_dialect_register(xir_context *ctx, const xir_dialect_decl *d, xir_diags *why) {
    const void *item = d;
    return registry_add(ctx, REGISTRY_DIALECT, &item, 1, why);
}
