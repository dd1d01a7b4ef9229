/* A view is a read-only selection of a network's ops, in execution order, with the inputs and outputs that it has as a
 * part. It keeps its network alive. An edit of the network makes it stale: every question then says XIR_E_STALE. */
#ifndef XIR_VIEW_H
#define XIR_VIEW_H

#include <xir/network.h>

XIR_BEGIN

typedef struct xir_view xir_view;

/* Views: of these ops (each once; order does not matter), of the ids, of positions [start, end) (negative: from the
 * end; end INT64_MAX: to the end), from op id to op id, the end included, of the ops that a function picks, of all
 * but the ids. NULL with a finding in the network if an id or op is unknown. Free with xir_view_free, which accepts
 * NULL. */
XIR_API xir_view *xir_view_ops(xir_network *net, xir_op *const *ops, size_t n);
XIR_API xir_view *xir_view_ids(xir_network *net, const int64_t *op_ids, size_t n);
XIR_API xir_view *xir_view_range(xir_network *net, int64_t start, int64_t end);
XIR_API xir_view *xir_view_id_range(xir_network *net, int64_t first_id, int64_t last_id);
XIR_API xir_view *xir_view_if(xir_network *net, bool (*pick)(const xir_op *op, void *user), void *user);
XIR_API xir_view *xir_view_except(xir_network *net, const int64_t *op_ids, size_t n);
XIR_API void      xir_view_free(xir_view *view);

/* Whether the network has been edited since the view was made, and which network it is. Neither fails. */
XIR_API bool         xir_view_is_stale(const xir_view *view);
XIR_API xir_network *xir_view_network(const xir_view *view);

/* The same questions as of a network. Counts are 0 and pointers NULL when stale. */
XIR_API size_t  xir_view_op_count(const xir_view *view);
XIR_API xir_op *xir_view_op_at(const xir_view *view, int64_t i);
XIR_API xir_op *xir_view_op_by_id(const xir_view *view, int64_t op_id);
XIR_API int64_t xir_view_index_of(const xir_view *view, const xir_op *op);
XIR_API bool    xir_view_has(const xir_view *view, const xir_op *op);
/* Values that come in (made outside, or by an Input op inside) in the order of their first use, and that go out
 * (used outside or by an Output op inside, or used nowhere) in execution order, or in the network's own order if
 * they are its outputs. Each once. Params do not come in. */
XIR_API size_t  xir_view_inputs(const xir_view *view, xir_value **out, size_t room);
XIR_API size_t  xir_view_outputs(const xir_view *view, xir_value **out, size_t room);
XIR_API size_t  xir_view_params(const xir_view *view, xir_value **out, size_t room);
/* Puts the outputs into the order of these value ids, which must be the outputs. */
XIR_API xir_status xir_view_order_outputs(xir_view *view, const int64_t *v_ids, size_t n);
/* Same ops, same network. */
XIR_API bool    xir_view_equal(const xir_view *a, const xir_view *b);

/* A standalone network of the view's ops; Input and Output are added where missing. Those inside are kept, and get
 * what comes in or is used outside, in addition to what they have. Ids are kept, parameter bytes shared. NULL on
 * failure, with a finding in the network: XIR_E_INVALID if the view is not convex, that is if a way leads from an op
 * of the view over ops outside back to one of the view, since what comes in would then depend on what goes out;
 * XIR_E_STALE, XIR_E_MEMORY. Linear in the network. */
XIR_API xir_network *xir_view_to_network(const xir_view *view);

XIR_END

#endif
