/* What a conversion knows about a foreign class, from its row: found once for each class. */
#include "rows/row.h"
#include "source_tags.h"

/* Reads the input names from the text of a row. */
static bool name_inputs(conversion *c, convert_class *cls) {
    const char *text = row_input_names(cls->row->inputs);
    size_t n = 0;
    for (row_input input; row_next_input(&text, &input);) n++;
    if (!n) return true;
    row_input *slots = arena_take(&c->scratch, n * sizeof *slots);
    text = row_input_names(cls->row->inputs);
    for (size_t i = 0; slots && i < n; i++) (void)row_next_input(&text, &slots[i]);
    cls->slots = slots;
    cls->n_slots = n;
    return slots;
}

const convert_class *conversion_class(conversion *c, const xir_class *cls) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    static const convert_class in_no_dialect;   /* a file may have many such classes */
    const uint32_t *known = pointer_table_find(&c->class_of, cls);
    if (known) return c->classes[*known];
    const xir_dialect_decl *dialect = dialect_of_class(cls);
    if (!dialect && !c->back.to) return &in_no_dialect;
    convert_class *made = arena_take(&c->scratch, sizeof *made);
    if (!made || !mem_reserve(alloc, (void **)&c->classes, &c->class_room, c->n_classes + 1, sizeof *c->classes))
        return NULL;
    if (!pointer_table_add(&c->class_of, cls, (uint32_t)c->n_classes)) return NULL;
    c->classes[c->n_classes++] = made;
    xir_str key = xir_class_key(cls), domain;
    *made = (convert_class){ .dialect = dialect, .type = convert_short_name(cls) };
    if (!dialect) return made;
    convert_split_key(made->dialect, key, &domain, &made->type);
    made->row = convert_row_of(c->ctx, dialect, key);
    if (made->row && !xir_str_equal(key, xir_str_of(made->row->name))) {   /* hooks know the type of their row */
        key = xir_str_of(made->row->name);
        convert_split_key(made->dialect, key, &domain, &made->type);
    }
    made->foreign = domain.size > 0;
    if (made->row) {
        row_attribute attribute;
        const char *text = made->row->attributes;
        row_range(made->row->inputs, &made->least_in, &made->most_in);
        if (!name_inputs(c, made)) return NULL;
        row_range(made->row->outputs, &made->least_out, &made->most_out);
        while (row_next_attribute(&text, &attribute)) made->needs |= attribute.needed;
        row_versions(made->row->attributes, &made->from, &made->until);
    }
    made->version = made->dialect->version ? made->dialect->version(c->net, domain) : 0;
    made->newer = !made->foreign && convert_newest(dialect) && made->version > convert_newest(dialect);
    return made;
}

const convert_class *conversion_class_of(conversion *c, const xir_op *op) {
    const convert_class *cls = conversion_class(c, xir_op_class(op));
    const xir_any *version = cls && cls->dialect ? source_tag_find(xir_op_tags(op), SOURCE_VERSION) : NULL;
    if (!version || version->kind != XIR_ANY_INT || version->as.integer == cls->version) return cls;
    convert_class *own = arena_take(&c->brief, sizeof *own);
    if (!own) return NULL;
    *own = *cls;
    own->version = version->as.integer;
    own->newer = !own->foreign && convert_newest(own->dialect) && own->version > convert_newest(own->dialect);
    return own;
}
