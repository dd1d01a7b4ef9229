/* The words of the .def language that declare nothing in C: names of the past, names of functions, notes.
 * No guard: included once a pass, after words_off.h. */
#define ALIAS(key)
#define WAS(name, old)
#define CHECK(fn)
#define INFER(fn)
#define INFER_ON(target, fn)
#define INFER_ALONE(fn)
#define INFER_ALONE_ON(target, fn)
#define FORM(form)
#define FORMULA(text)
#define GIVES(text)
#define UNLIKE(text)
