/* Makes, of each `OP (id, …)` of the list that XIR_DEFS names, a struct `id` that xir::builder and xir::op take as a
 * template argument. Include it in a namespace of the program's own, after <xir/xir.hpp> and after declare.h has
 * declared the list. No guard: it may be included again for another list. */
#include <xir/decl_off.h>

#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OBJ(id, key, base, traits, doc)
#define END_OBJ(id)
#define OP(id, tag, key, traits, doc) \
    struct id { \
        using attrs = xir_##id##_attrs; \
        using in = xir_##id##_in; \
        static const xir_class_decl *decl() { return xir_##id##_class(); } \
        static attrs init() { return xir_##id##_init(); } \
        static const attrs *of(const xir_op *op) { return xir_##id##_of(op); } \
        static xir_status set(xir_op *op, const attrs *a) { return xir_##id##_set(op, a); } \
        /* The inputs in the order of the ports; what is too much is refused by the library. */ \
        static xir_op *make(xir_at at, xir_value *const *from, std::size_t n, const attrs *a) \
        { \
            in ports = in(); \
            std::size_t i = 0; \
            (void)from;
#define IN(name, doc)  if (i < n) ports.name = from[i++];
#define OPT(name, doc) if (i < n) ports.name = from[i++];
#define VAR(name, doc) ports.name.data = from + i, ports.name.size = n - i, i = n;
#define END(id) \
            return i == n ? xir_add_##id(at, ports, a) : ::xir::detail::add_with_surplus(at, decl(), from, n);\
        } \
    };
#define OUT(name, doc)
#define OUTS(name, doc)
#include <xir/decl_none.h>
#include XIR_DEFS
#include <xir/decl_off.h>
#undef XIR_DEFS
