/* Proof by example that networks compute the same: the reference executor runs both on the same inputs. A proof
 * looks at one network after the other; as the watch of a pipeline it looks before the first pass and after every
 * one that changed something. */
#ifndef XIR_PROVE_H
#define XIR_PROVE_H

#include <xir/exec.h>
#include <xir/pass.h>

XIR_BEGIN

/* An input of the networks, by name or by position, "0". */
typedef struct xir_proof_input {
    uint32_t         size;    /* XIR_INIT(xir_proof_input) */
    const char      *name;
    const xir_array *array;
} xir_proof_input;

typedef struct xir_proof_options {
    uint32_t               size;         /* XIR_INIT(xir_proof_options)                                            */
    /* Each with its size. The others are random, as xir_array_random; their unknown dims are 1. */
    const xir_proof_input *inputs;
    size_t                 n_inputs;
    /* given arrays hold samples along their first dim, all as many: each is run on its own */
    bool                   each;
    uint64_t               seed;
    double                 absolute;     /* how far numbers may be apart, see xir_array_compare; 0 both: 1e-4 each */
    double                 relative;
    /* of one run of a network, as in xir_run_options; 0: no limit                 */
    uint64_t               max_work;
    bool                 (*cancel)(void *user);   /* as in xir_run_options */
    void                  *user;
} xir_proof_options;

/* How far a proof has come. */
typedef struct xir_proof_state {
    uint32_t size;       /* XIR_INIT(xir_proof_state)                                              */
    size_t   networks;   /* that were run: 0, nothing could be run so far; 1, nothing was compared */
    size_t   outputs;    /* arrays that were compared                                              */
    double   largest;    /* the greatest difference between two numbers, NaN apart                 */
} xir_proof_state;

typedef struct xir_proof xir_proof;

/* A proof that has looked at nothing. Keeps the arrays, not the list. NULL with a finding: no memory, XIR_E_ABI,
 * XIR_E_UNSUPPORTED. */
XIR_API xir_proof *xir_proof_new(xir_context *ctx, const xir_proof_options *options, xir_diags *why);
XIR_API void       xir_proof_free(xir_proof *proof);   /* accepts NULL */
/* Fills `out`. XIR_E_ABI. */
XIR_API xir_status xir_proof_state_of(const xir_proof *proof, xir_proof_state *out, xir_diags *why);

/* Looks at a network. Where an input or an output has got channels last, as layout{io=nhwc} gives them, the arrays
 * follow. The first one that the executor can run whole is what the others are compared with; those before are XIR_OK
 * (an unconverted one, for example), and so is one that is the same as the first, within the tolerance, in every
 * output.
 *   XIR_E_INVALID   an output is another, or there are more or fewer; findings say which, and which value in the order of execution was
 *                   the first to differ from that of its name in the network that was looked at before
 *   XIR_E_UNKNOWN   the networks have no input of a name
 *   XIR_E_CANCELLED `cancel` has said so
 *   XIR_E_BOUNDS    arrays hold different numbers of samples
 *   what xir_network_run says, if the network cannot be run any more */
XIR_API xir_status xir_proof_check(xir_proof *proof, const xir_network *net, xir_diags *why);
/* Why nothing could be run so far, findings of the last network; NULL: something was run, or nothing was looked at. */
XIR_API const xir_diags *xir_proof_obstacle(const xir_proof *proof);

/* Fills `out` with the proof as a watch, for xir_pass_settings; it is valid as long as the proof. Its findings name the
 * pass. XIR_E_ABI. */
XIR_API xir_status xir_proof_watch(xir_proof *proof, xir_pass_watch *out, xir_diags *why);

XIR_END

#endif
