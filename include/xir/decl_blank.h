/* Every word of the .def language, saying nothing: where a list is read for a few of its words, those are undefined
 * after this and defined again. No guard: included once a pass; decl_off.h ends the pass. */
#include <xir/decl_off.h>
#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OP(id, tag, key, traits, doc)
#define OBJ(id, key, base, traits, doc)
#define END(id)
#define END_OBJ(id)
#include <xir/decl_none.h>
