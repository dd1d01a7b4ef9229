/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* XIR for C++17: handles that free what they own, ranges to walk over, and operations whose attributes are named in a
 * lambda. Header only. It needs neither exceptions nor RTTI: errors are values, as in C, and a network keeps the first
 * failure of a chain of building calls.
 *
 *     xir::context ctx;
 *     xir::network net(ctx, "tiny");
 *     xir::builder b = net.end();
 *     xir::value x = b.input("image", ctx.tensor(ctx.fp32(), "NHWC", { 1, 32, 32, 3 }));
 *     x = b.named("conv1").add<xir::ops::conv2d>({ x, weights },
 *                                                [](auto &a) { a.stride_width = a.stride_height = 2; });
 *     x = b.add<xir::ops::relu>({ x });
 *     b.output({ x });
 *     if (net.status() != XIR_OK) xir_diags_print(net.findings(), stderr);
 *
 * The small classes value, op, use and type are pointers with member functions: copy them freely. They turn into the
 * pointers of the C interface by themselves, and are valid as long as those. Every question may be asked of an empty
 * one, and returns 0, false, an empty text or another empty one. The functions of the C headers serve for everything
 * else; their contracts hold here too. */
#ifndef XIR_XIR_HPP
#define XIR_XIR_HPP

#if __cplusplus < 201703L && !defined _MSVC_LANG
#error "xir/xir.hpp needs C++17 or newer: -std=c++17"
#endif

#include <xir/xir.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace xir {

/* ---- texts ------------------------------------------------------------------------------------------------------ */

inline std::string_view view(xir_str s) { return s.size ? std::string_view(s.data, s.size) : std::string_view(); }
inline xir_str          str(std::string_view s) { return xir_str{ s.data(), s.size() }; }

/* ---- owners ------------------------------------------------------------------------------------------------------ */

/* A pointer that is freed with its handle. It is moved, never copied. release() gives it back to C. */
template <class T, void (*Free)(T *)> class handle {
public:
    handle() = default;
    explicit handle(T *p) : p_(p) {}
    handle(handle &&other) noexcept : p_(other.release()) {}
    handle &operator=(handle &&other) noexcept
    {
        std::swap(p_, other.p_);
        return *this;
    }
    ~handle()
    {
        if (p_) Free(p_);
    }
    T       *get() const { return p_; }
    T       *release() { return std::exchange(p_, nullptr); }
    operator T *() const { return p_; }
    explicit operator bool() const { return p_ != nullptr; }

private:
    T *p_ = nullptr;
};

/* A list of findings: a range of xir_diag. */
class diags : public handle<xir_diags, xir_diags_free> {
public:
    explicit diags(xir_context *ctx) : handle(xir_diags_new(ctx)) {}

    class iterator {
    public:
        iterator(const xir_diags *of, std::size_t i) : of_(of), i_(i) {}
        const xir_diag &operator*() const { return *xir_diags_at(of_, i_); }
        iterator       &operator++() { return ++i_, *this; }
        bool            operator!=(const iterator &other) const { return i_ != other.i_; }

    private:
        const xir_diags *of_;
        std::size_t      i_;
    };
    iterator    begin() const { return { get(), 0 }; }
    iterator    end() const { return { get(), size() }; }
    std::size_t size() const { return xir_diags_count(get()); }
    bool        empty() const { return size() == 0; }
    void        clear() { xir_diags_clear(get()); }
};

/* Numbers outside of a network. */
class array : public handle<xir_array, xir_array_free> {
public:
    using handle::handle;
    /* All elements as reals; empty if they are not numbers. */
    std::vector<double> reals() const
    {
        std::vector<double> out(xir_array_count(get()));
        if (xir_array_reals(get(), 0, out.size(), out.data()) != XIR_OK) out.clear();
        return out;
    }
};

/* ---- types ------------------------------------------------------------------------------------------------------ */

/* An immutable data type of a context. Types are compared by content. */
class type {
public:
    type(const xir_type *p = nullptr) : p_(p) {}
    operator const xir_type *() const { return p_; }
    explicit operator bool() const { return p_ != nullptr; }

    xir_type_kind kind() const { return p_ ? xir_type_kind_of(p_) : XIR_TYPE_OTHER; }
    type          element() const { return xir_type_element(p_); }
    std::size_t   rank() const { return xir_type_rank(p_); }
    /* A dim by its index, from the end if negative; negative if it is unknown. */
    std::int64_t              dim(std::int64_t i) const { return xir_type_dim(p_, i, false); }
    std::vector<std::int64_t> dims() const
    {
        std::vector<std::int64_t> out(rank());
        for (std::size_t i = 0; i < out.size(); i++) out[i] = dim(static_cast<std::int64_t>(i));
        return out;
    }
    std::string_view layout() const
    {
        const xir_layout *l = xir_type_layout(p_);
        return l ? view(xir_layout_text(l)) : std::string_view();
    }
    friend bool operator==(type a, type b) { return xir_type_equal(a.p_, b.p_); }
    friend bool operator!=(type a, type b) { return !(a == b); }

private:
    const xir_type *p_;
};

class context : public handle<xir_context, xir_context_free> {
public:
    context() : handle(xir_context_new(nullptr)) {}
    explicit context(const xir_allocator &allocator) : handle(xir_context_new(&allocator)) {}
    /* A context with these components alone: context({ xir_component_flat(), xir_component_kernels() }). */
    explicit context(std::initializer_list<const xir_component *> components)
        : handle(xir_context_new_with(nullptr, components.begin(), components.size())) {}

    type fp32() const { return xir_type_float(get(), XIR_FLOAT_FP32); }
    type floating(xir_float_format format) const { return xir_type_float(get(), format); }
    type sint(std::int64_t bits) const { return xir_type_sint(get(), bits); }
    type uint(std::int64_t bits) const { return xir_type_uint(get(), bits); }
    type boolean() const { return xir_type_bool(get()); }
    /* A tensor; `layout` is "NHWC", or "" for the default of the rank. */
    type tensor(type element, const char *layout, std::initializer_list<std::int64_t> dims) const
    {
        return tensor(element, layout, dims.begin(), dims.size());
    }
    type tensor(type element, const char *layout, const std::vector<std::int64_t> &dims) const
    {
        return tensor(element, layout, dims.data(), dims.size());
    }

private:
    type tensor(type element, const char *layout, const std::int64_t *dims, std::size_t rank) const
    {
        return layout && *layout ? xir_type_tensor_text(get(), element, layout, dims, rank)
                                 : xir_type_tensor(get(), element, nullptr, dims, rank);
    }
};

namespace detail {

/* More inputs than the class has: the library refuses them and reports how many it takes. */
inline xir_op *add_with_surplus(xir_at at, const xir_class_decl *decl, xir_value *const *inputs, std::size_t n)
{
    xir_op_desc desc = XIR_INIT(xir_op_desc);
    desc.cls = xir_class_find_decl(xir_network_context(at.net), decl);
    desc.inputs = inputs;
    desc.n_inputs = n;
    desc.id = XIR_NO_ID;
    return xir_network_add(at.net, &desc);
}

/* The struct of inputs of a class: a pointer for each port, and a list if the last one takes any number. */
struct ports {
    static constexpr std::size_t most = 62;   /* more than any class has */
    std::size_t                  single = 0;
    bool                         list = false;
    explicit ports(const xir_class_decl *decl)
    {
        const char *at_row = reinterpret_cast<const char *>(decl->rows);
        for (const xir_row *row; row = reinterpret_cast<const xir_row *>(at_row), row->decl != XIR_DECL_END;
             at_row += decl->row_size) {
            single += (row->decl == XIR_DECL_IN || row->decl == XIR_DECL_OPT) && single < most;
            list |= row->decl == XIR_DECL_VAR;
        }
    }
};

/* Lays out the inputs as the class's struct of inputs has them, and adds the operation. */
inline xir_op *add(xir_at at, const xir_class_decl *decl, const ports &of, xir_value *const *from, std::size_t n,
                   const void *attrs)
{
    if (!of.list && n == of.single) return xir_op_build(at, decl, from, attrs);
    if (!of.list && n > of.single) return add_with_surplus(at, decl, from, n);
    void             *room[ports::most + sizeof(xir_values) / sizeof(void *)];
    const std::size_t first = n < of.single ? n : of.single;
    for (std::size_t i = 0; i < of.single; i++) room[i] = i < n ? from[i] : nullptr;
    if (of.list) *reinterpret_cast<xir_values *>(&room[of.single]) = { from + first, n - first };
    return xir_op_build(at, decl, room, attrs);
}

}

/* ---- operations by name ----------------------------------------------------------------------------------------- */

/* A class of operations, for xir::builder and xir::op. */
template <class Attrs, const xir_class_decl *(*Decl)(), Attrs (*Init)()> struct operation {
    using attrs = Attrs;
    static const xir_class_decl *decl() { return Decl(); }
    static attrs init() { return Init(); }
    static const attrs *of(const xir_op *op) { return static_cast<const attrs *>(xir_op_body(op, Decl())); }
    static xir_status set(xir_op *op, const attrs *a) { return xir_op_set_body(op, Decl(), a); }
    /* The inputs in the order of the ports; what is too much is refused by the library. */
    static xir_op *make(xir_at at, xir_value *const *from, std::size_t n, const attrs *a)
    {
        static const detail::ports of(Decl());
        return detail::add(at, Decl(), of, from, n, a);
    }
};

/* The operations of the library. A list of a program's own (see declare.h) gets such types by including
 * <xir/traits.hpp> with XIR_DEFS naming it. */
namespace ops {
#define XIR_DEFS <xir/ops/all.def>
#include <xir/traits.hpp>
}

/* ---- values and operations -------------------------------------------------------------------------------------- */

class op;
class value;

/* The items 0 to n - 1 of a list; At makes each. */
template <class Item, class Of, Item (*At)(Of, std::size_t)> class positions {
public:
    positions(Of of, std::size_t n) : of_(of), n_(n) {}
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = const Item *;
        using reference = Item;
        iterator(Of of, std::size_t i) : of_(of), i_(i) {}
        Item      operator*() const { return At(of_, i_); }
        iterator &operator++() { return ++i_, *this; }
        bool      operator==(const iterator &other) const { return i_ == other.i_; }
        bool      operator!=(const iterator &other) const { return i_ != other.i_; }

    private:
        Of          of_;
        std::size_t i_;
    };
    iterator    begin() const { return { of_, 0 }; }
    iterator    end() const { return { of_, n_ }; }
    std::size_t size() const { return n_; }
    bool        empty() const { return n_ == 0; }
    Item        operator[](std::size_t i) const { return At(of_, i); }

private:
    Of          of_;
    std::size_t n_;
};

/* A linked list; Next finds the item after another. The next one is found before the body of a loop runs, so
 * that the body may remove the one it is at. */
template <class Item, class Raw, Raw (*Next)(Raw)> class chain {
public:
    explicit chain(Raw first) : first_(first) {}
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = const Item *;
        using reference = Item;
        explicit iterator(Raw at) : at_(at), next_(at ? Next(at) : at) {}
        Item      operator*() const { return Item(at_); }
        iterator &operator++()
        {
            at_ = next_;
            next_ = at_ ? Next(at_) : at_;
            return *this;
        }
        bool operator==(const iterator &other) const { return at_ == other.at_; }
        bool operator!=(const iterator &other) const { return at_ != other.at_; }

    private:
        Raw at_, next_;
    };
    iterator begin() const { return iterator(first_); }
    iterator end() const { return iterator(Raw()); }

private:
    Raw first_;
};

/* One use of a value: input `index` of `user`. */
class use {
public:
    explicit use(const xir_use *p) : p_(p) {}
    inline op   user() const;
    std::size_t index() const { return xir_use_index(p_); }

private:
    const xir_use *p_;
};

class value {
public:
    value(xir_value *p = nullptr) : p_(p) {}
    operator xir_value *() const { return p_; }
    explicit operator bool() const { return p_ != nullptr; }

    std::int64_t     id() const { return xir_value_id(p_); }
    std::string_view name() const { return view(xir_value_name(p_)); }
    xir::type        type() const { return xir_value_type(p_); }
    inline op        maker() const;     /* the operation whose output it is; empty for constants */
    std::size_t      index() const { return xir_value_index(p_); }
    bool             is_params() const { return xir_value_is_params(p_); }

    chain<use, const xir_use *, xir_use_next> uses() const
    {
        return chain<use, const xir_use *, xir_use_next>(xir_value_uses(p_));
    }
    std::size_t use_count() const { return xir_value_use_count(p_); }

    xir_status set_name(std::string_view name) { return xir_value_set_name(p_, str(name)); }
    xir_status set_type(xir::type t) { return xir_value_set_type(p_, t); }
    /* Every use of this value becomes a use of `now`. */
    xir_status replace_with(value now) { return xir_value_replace(p_, now); }

private:
    xir_value *p_;
};

namespace detail {

inline value input_at(xir_op *op, std::size_t i) { return xir_op_input(op, static_cast<std::int64_t>(i)); }
inline value output_at(xir_op *op, std::size_t i) { return xir_op_output(op, static_cast<std::int64_t>(i)); }
inline xir_op *next_op(xir_op *op) { return xir_op_next(op); }

/* The name of an enumerator, as files spell it. */
inline std::string_view enumerator(const xir_field *f, int i)
{
    const xir_enum *e = f ? f->members : nullptr;
    return e && i >= 0 && static_cast<std::size_t>(i) < e->size ? std::string_view(e->names[i]) : std::string_view();
}

/* An attribute as a T; nothing if it is of another kind. A real accepts an integer, a text an enumerator. */
template <class T> std::optional<T> attr_as(const xir_attr &a, const xir_field *f)
{
    if constexpr (std::is_same_v<T, bool>) {
        if (a.kind == XIR_KIND_BOOL) return a.as.boolean;
    } else if constexpr (std::is_same_v<T, std::string_view>) {
        if (a.kind == XIR_KIND_TEXT) return view(a.as.text);
        if (a.kind == XIR_KIND_ENUM) return enumerator(f, a.as.enumerator);
    } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
        if (a.kind == XIR_KIND_I64S && !a.is_null) return T(a.as.i64s.data, a.as.i64s.data + a.as.i64s.size);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
        if (a.kind == XIR_KIND_REALS && !a.is_null) return T(a.as.reals.data, a.as.reals.data + a.as.reals.size);
    } else if constexpr (std::is_same_v<T, value>) {
        if (a.kind == XIR_KIND_PARAMS && !a.is_null) return value(a.as.params);
    } else if constexpr (std::is_same_v<T, const xir_object *>) {
        if (a.kind == XIR_KIND_REF && !a.is_null) return a.as.ref;
    } else if constexpr (std::is_floating_point_v<T>) {
        if (a.kind == XIR_KIND_REAL) return static_cast<T>(a.as.real);
        if (a.kind == XIR_KIND_I64) return static_cast<T>(a.as.i64);
    } else {
        static_assert(std::is_integral_v<T>, "no attribute has this type");
        if (a.kind == XIR_KIND_I64) return static_cast<T>(a.as.i64);
        if (a.kind == XIR_KIND_U64) return static_cast<T>(a.as.u64);
    }
    return std::nullopt;
}

}

using operands = positions<value, xir_op *, detail::input_at>;
using results = positions<value, xir_op *, detail::output_at>;

class op {
public:
    op(xir_op *p = nullptr) : p_(p) {}
    operator xir_op *() const { return p_; }
    explicit operator bool() const { return p_ != nullptr; }

    std::int64_t     id() const { return xir_op_id(p_); }
    std::string_view name() const { return view(xir_op_name(p_)); }
    /* The key of its class in files, "icraft::xir::ReLU". */
    std::string_view key() const { return p_ ? view(xir_class_key(xir_op_class(p_))) : std::string_view(); }

    operands inputs() const { return { p_, xir_op_input_count(p_) }; }
    results  outputs() const { return { p_, xir_op_output_count(p_) }; }
    value    input(std::int64_t i) const { return xir_op_input(p_, i); }
    value    input(std::string_view port) const { return xir_op_input_named(p_, str(port)); }
    value    output(std::int64_t i = 0) const { return xir_op_output(p_, i); }
    op       next() const { return xir_op_next(p_); }
    op       prev() const { return xir_op_prev(p_); }

    template <class Op> bool is() const { return xir_op_is(p_, Op::decl()); }
    /* The attributes if the operation is of that class, otherwise NULL. Valid until they are set. */
    template <class Op> const typename Op::attrs *as() const { return Op::of(p_); }
    /* Changes some attributes of an operation of that class: `change` gets a copy. XIR_E_TYPE for another class. */
    template <class Op, class Change> xir_status edit(Change &&change)
    {
        const typename Op::attrs *now = Op::of(p_);
        if (!now) return XIR_E_TYPE;
        typename Op::attrs copy = *now;
        change(copy);
        return Op::set(p_, &copy);
    }

    /* An attribute by its name: get<std::int64_t>("groups"), get<double>, <bool>, <std::string_view> (enums too),
     * <std::vector<std::int64_t>>, <std::vector<double>>, <xir::value>, <const xir_object *>. Nothing if the class
     * does not declare it or it is of another kind. */
    template <class T> std::optional<T> get(std::string_view attr) const
    {
        xir_attr a;
        if (!p_ || xir_op_get(p_, str(attr), &a) != XIR_OK) return std::nullopt;
        return detail::attr_as<T>(a, xir_class_field(xir_op_class(p_), str(attr)));
    }
    bool has(std::string_view attr) const { return p_ && xir_op_has(p_, str(attr)); }
    /* Sets an attribute by its name: an integer, a real, a bool, a text or the name of an enumerator, a list. */
    xir_status set(const char *attr, bool v) { return xir_op_set_bool(p_, attr, v); }
    xir_status set(const char *attr, double v) { return xir_op_set_real(p_, attr, v); }
    xir_status set(const char *attr, const char *v) { return xir_op_set_text(p_, attr, v); }
    xir_status set(const char *attr, const std::vector<std::int64_t> &v)
    {
        return xir_op_set_i64s(p_, attr, v.data(), v.size());
    }
    template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>>
    xir_status set(const char *attr, I v)
    {
        return xir_op_set_i64(p_, attr, static_cast<std::int64_t>(v));
    }

    bool       is_draft() const { return xir_op_is_draft(p_); }
    bool       has_trait(xir_trait trait) const { return xir_op_has_trait(p_, trait); }
    xir_status place(op before = nullptr) { return xir_op_place(p_, before); }
    xir_status add_input(value v) { return xir_op_add_input(p_, v); }
    xir_status set_input(std::size_t i, value v) { return xir_op_set_input(p_, i, v); }
    /* Makes a value that no operation makes output i: use the result from then on. */
    value      set_output(std::size_t i, value v) { return xir_op_set_output(p_, i, v); }
    xir_status set_name(std::string_view name) { return xir_op_set_name(p_, str(name)); }
    xir_status infer(bool override_types = false) { return xir_op_infer(p_, override_types); }
    /* Removes the operation. XIR_E_IN_USE while an output is used. The object is empty afterwards. */
    xir_status erase()
    {
        xir_status status = xir_op_erase(p_);
        if (status == XIR_OK) p_ = nullptr;
        return status;
    }

private:
    xir_op *p_;
};

op use::user() const { return xir_use_op(p_); }
op value::maker() const { return xir_value_op(p_); }

/* ---- building --------------------------------------------------------------------------------------------------- */

/* A cursor: where and how the next operation is added. Copies with one thing changed, `b.named("conv1")`, leave the
 * original as it is. After a failure all calls do nothing and give empty values; the network keeps the finding. */
class builder {
public:
    explicit builder(xir_at at) : at_(at) {}

    /* The name of the one operation that follows; a prefix of all names, after the current prefix. The texts
     * must live as long as the builder is used. */
    builder named(std::string_view name) const { return with([&](xir_at &at) { at.name = str(name); }); }
    builder scoped(std::string_view scope) const { return with([&](xir_at &at) { at.scope = str(scope); }); }
    builder before(xir_op *op) const { return with([&](xir_at &at) { at.before = op; }); }
    builder on(const xir_target *target) const { return with([&](xir_at &at) { at.target = target; }); }

    value input(const char *name, type t) const { return xir_input(at_, name, t); }
    op    output(std::initializer_list<xir_value *> values) const
    {
        return xir_output(at_, xir_values{ values.begin(), values.size() });
    }
    /* A constant tensor without bytes, and one whose bytes are copied. */
    value params(std::string_view name, type t) const { return xir_params_new(at_.net, str(name), t); }
    value params(std::string_view name, type t, const void *data, std::size_t size) const
    {
        xir_value *p = xir_params_new(at_.net, str(name), t);
        return p && xir_params_set_copy(p, data, size) == XIR_OK ? p : nullptr;
    }

    /* Adds an operation and gives its first output. `inputs` are in the order of the class's ports; optional ones are
     * nullptr or left out at the end. `set` gets the attributes with their defaults:
     *     b.add<xir::ops::relu>({ x }, [](auto &a) { a.alpha = 0.2; }) */
    template <class Op, class Set>
    value add(std::initializer_list<xir_value *> inputs, Set &&set) const
    {
        return add_op<Op>(inputs, std::forward<Set>(set)).output();
    }
    template <class Op> value add(std::initializer_list<xir_value *> inputs) const
    {
        return add_op<Op>(inputs).output();
    }
    /* The same, giving the operation: for several outputs. */
    template <class Op, class Set>
    op add_op(std::initializer_list<xir_value *> inputs, Set &&set) const
    {
        typename Op::attrs attrs = Op::init();
        set(attrs);
        return Op::make(at_, inputs.begin(), inputs.size(), &attrs);
    }
    template <class Op> op add_op(std::initializer_list<xir_value *> inputs) const
    {
        return Op::make(at_, inputs.begin(), inputs.size(), nullptr);
    }

    operator xir_at() const { return at_; }

private:
    template <class Change> builder with(Change &&change) const
    {
        builder copy = *this;
        change(copy.at_);
        return copy;
    }
    xir_at at_;
};

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* A proof that networks compute the same (see prove.h). */
class proof : public handle<xir_proof, xir_proof_free> {
public:
    explicit proof(xir_context *ctx, xir_diags *why = nullptr, const xir_proof_options *options = nullptr)
        : handle(xir_proof_new(ctx, options, why))
    {
    }
    /* XIR_E_INVALID if the network computes otherwise than the first one. */
    xir_status      check(const xir_network *net, xir_diags *why = nullptr) { return xir_proof_check(get(), net, why); }
    xir_proof_state state() const
    {
        xir_proof_state out = XIR_INIT(xir_proof_state);
        xir_proof_state_of(get(), &out, nullptr);
        return out;
    }
};

/* Passes in the order in which they run; empty, with a finding, if the text is malformed. */
class pipeline : public handle<xir_pipeline, xir_pipeline_free> {
public:
    explicit pipeline(xir_context *ctx, std::string_view passes = xir_default_pipeline(), xir_diags *why = nullptr)
        : handle(xir_pipeline_parse(ctx, str(passes), why))
    {
    }
    /* Adds the steps of another text. */
    xir_status add(std::string_view passes, xir_context *ctx, xir_diags *why = nullptr)
    {
        const pipeline steps(ctx, passes, why);
        return steps ? xir_pipeline_append(get(), steps, 0, why) : XIR_E_INVALID;
    }
    xir_status run(xir_network *net, xir_diags *why = nullptr, const xir_pass_settings *settings = nullptr) const
    {
        return get() ? xir_pipeline_run(get(), net, settings, nullptr, why) : XIR_E_INVALID;
    }
    /* The same, with the network validated and proven after every pass. */
    xir_status prove(xir_network *net, proof &with, xir_diags *why = nullptr) const
    {
        xir_pass_watch watch = XIR_INIT(xir_pass_watch);
        if (!with) return XIR_E_MISSING;
        if (xir_status status = xir_proof_watch(with, &watch, why)) return status;
        xir_pass_settings settings = XIR_INIT(xir_pass_settings);
        settings.verify = true;
        settings.watches = &watch;
        settings.n_watches = 1;
        return run(net, why, &settings);
    }
};

/* ---- networks --------------------------------------------------------------------------------------------------- */

class network : public handle<xir_network, xir_network_free> {
public:
    using handle::handle;
    network(xir_context *ctx, const char *name, xir_framework framework = XIR_FRAMEWORK_PYTORCH,
            const char *framework_version = "")
        : handle(xir_network_new(ctx, name, framework, framework_version))
    {
    }
    /* Loads a file of any format that the library reads. Empty after a failure, with findings in `why`. The path is a
     * text of C, or has c_str() as std::string has. */
    static network load(xir_context *ctx, const char *path, xir_diags *why = nullptr, bool lazy = false)
    {
        xir_load_options how = XIR_INIT(xir_load_options);
        how.lazy = lazy;
        return network(xir_network_load(ctx, path, &how, why));
    }
    template <class Path, class = decltype(std::declval<const Path &>().c_str())>
    static network load(xir_context *ctx, const Path &path, xir_diags *why = nullptr, bool lazy = false)
    {
        return load(ctx, path.c_str(), why, lazy);
    }
    /* Saves it; the suffix of the name chooses the format. */
    xir_status save(const char *path, xir_diags *why = nullptr)
    {
        return xir_network_save(get(), path, nullptr, why);
    }
    template <class Path, class = decltype(std::declval<const Path &>().c_str())>
    xir_status save(const Path &path, xir_diags *why = nullptr)
    {
        return save(path.c_str(), why);
    }
    network clone() const { return network(xir_network_clone(get())); }

    /* The status of the first building call that failed, and the findings. */
    xir_status       status() const { return xir_network_status(get()); }
    xir_diags       *findings() const { return xir_network_diags(get()); }
    std::string_view name() const { return view(xir_network_name(get())); }

    /* A builder at the end; findings name the line that calls it. */
#if defined(__GNUC__)
    builder end(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const
    {
        return builder(xir_at_line(xir_at_end(get()), file, line));
    }
#else
    builder end() const { return builder(xir_at_end(get())); }
#endif

    /* All operations in execution order. A loop may remove the operation that it is at. */
    chain<op, xir_op *, detail::next_op> ops() const
    {
        return chain<op, xir_op *, detail::next_op>(xir_network_first(get()));
    }
    std::size_t op_count() const { return xir_network_op_count(get()); }
    op          op_by_id(std::int64_t id) const { return xir_network_op_by_id(get(), id); }
    op          op_by_name(std::string_view name) const { return xir_network_op_by_name(get(), str(name)); }
    value       value_by_id(std::int64_t id) const { return xir_network_value_by_id(get(), id); }
    value       value_by_name(std::string_view name) const { return xir_network_value_by_name(get(), str(name)); }

    /* An operation that has only a class yet, and a value that no operation makes yet. */
    op    create(std::string_view key) { return xir_op_create(get(), str(key)); }
    value make_value(std::string_view name, type t, const xir_mtype *memory = nullptr)
    {
        return xir_value_new(get(), str(name), t, memory);
    }

    /* Lists, as templates: only a program that asks for one pays for compiling it. */
    template <class Value = value> std::vector<Value> inputs() const { return list<Value>(xir_network_inputs); }
    template <class Value = value> std::vector<Value> outputs() const { return list<Value>(xir_network_outputs); }
    template <class Value = value> std::vector<Value> params() const { return list<Value>(xir_network_params); }

    xir_status validate(xir_diags *why = nullptr) const { return xir_network_validate(get(), why); }
    xir_status infer(xir_diags *why = nullptr) { return xir_network_infer(get(), why); }
    /* Runs passes: "fold,dce", or the default pipeline. */
    xir_status optimize(std::string_view passes = xir_default_pipeline(), xir_diags *why = nullptr)
    {
        return pipeline(xir_network_context(get()), passes, why).run(get(), why);
    }
    /* Computes the outputs; none after a failure. */
    template <class Array = array>
    std::vector<Array> run(const std::vector<const xir_array *> &inputs, xir_diags *why = nullptr) const
    {
        std::vector<xir_array *> raw(xir_network_outputs(get(), nullptr, 0));
        std::vector<Array>       out;
        if (xir_network_run(get(), inputs.data(), inputs.size(), raw.data(), raw.size(), nullptr, why) == XIR_OK) {
            for (xir_array *a : raw) out.emplace_back(a);
        }
        return out;
    }

private:
    template <class Value>
    std::vector<Value> list(std::size_t (*ask)(const xir_network *, xir_value **, std::size_t)) const
    {
        std::vector<xir_value *> raw(ask(get(), nullptr, 0));
        const std::size_t        n = ask(get(), raw.data(), raw.size());
        if (n < raw.size()) raw.resize(n);
        return std::vector<Value>(raw.begin(), raw.end());
    }
};

/* ---- parts of networks ------------------------------------------------------------------------------------------- */

namespace detail {
inline op op_in(xir_ops ops, std::size_t i) { return ops.data[i]; }
}
/* Operations in execution order. */
using members = positions<op, xir_ops, detail::op_in>;
namespace detail {
inline members group_at(const xir_groups *of, std::size_t i)
{
    const xir_ops ops = xir_groups_at(of, i);
    return { ops, ops.size };
}
}

/* A network's operations divided into convex groups of one kind (see region.h): a range of groups, each a range of
 * operations. */
class groups : public handle<xir_groups, xir_groups_free> {
public:
    using range = positions<members, const xir_groups *, detail::group_at>;
    /* `kind(op)` is the kind of an operation, negative for those that are in no group. */
    template <class Kind> groups(const xir_network *net, Kind &&kind, xir_diags *why = nullptr)
        : handle(xir_groups_new(net, ask<std::remove_reference_t<Kind>>, address(kind), why))
    {
    }
    range::iterator begin() const { return all().begin(); }
    range::iterator end() const { return all().end(); }
    std::size_t     size() const { return xir_groups_count(get()); }
    members         operator[](std::size_t i) const { return detail::group_at(get(), i); }

private:
    range all() const { return { get(), size() }; }
    template <class Kind> static void *address(Kind &kind)
    {
        return const_cast<void *>(static_cast<const void *>(&kind));
    }
    template <class Kind> static int ask(const xir_op *op, void *kind)
    {
        return (*static_cast<Kind *>(kind))(xir::op(const_cast<xir_op *>(op)));
    }
};

/* A network of its own of some operations; the other one is unchanged (see xir_outline_network). */
inline network outline(xir_network *net, members ops)
{
    std::vector<xir_op *> raw(ops.size());
    for (std::size_t i = 0; i < raw.size(); i++) raw[i] = ops[i];
    return network(xir_outline_network(net, raw.data(), raw.size()));
}

/* The lives of values and the bytes that they take (see liveness.h). The network must outlive it. */
class liveness : public handle<xir_liveness, xir_liveness_free> {
public:
    /* `shares`: values may have the bytes of others, by the rows of the classes. */
    explicit liveness(const xir_network *net, bool shares = true, xir_diags *why = nullptr)
        : handle(make(net, shares, why))
    {
    }
    /* Nothing for a value without a life, such as Params. */
    std::optional<xir_life> of(value v) const
    {
        xir_life life = XIR_INIT(xir_life);
        if (!xir_liveness_of(get(), v, &life)) return std::nullopt;
        return life;
    }
    std::uint64_t peak() const
    {
        xir_live_peak peak = XIR_INIT(xir_live_peak);
        return xir_liveness_peak(get(), &peak, nullptr) == XIR_OK ? peak.bytes : 0;
    }

private:
    static xir_liveness *make(const xir_network *net, bool shares, xir_diags *why)
    {
        xir_liveness_options how = XIR_INIT(xir_liveness_options);
        how.views = how.in_place = shares;
        return xir_liveness_new(net, &how, why);
    }
};

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* A pattern to look for in networks (see pattern.h). xir::parts composes it. */
class pattern : public handle<xir_pattern, xir_pattern_free> {
public:
    using handle::handle;
    /* Calls visit(match) for each match in execution order; xir_match_part_value and the like ask it. */
    template <class Visit> void each(xir_network *net, Visit &&visit) const
    {
        xir_match m = {};
        while (get() && xir_pattern_next(get(), net, &m)) visit(static_cast<const xir_match &>(m));
    }
    /* Rewrites until nothing matches. `now(match, b)` gives the value that stands for the root from then on, made with
     * the builder `b` for example; an empty one leaves the match. `*n` is the number of rewrites. */
    template <class Now> xir_status rewrite(xir_network *net, Now &&now, std::size_t *n = nullptr,
                                            xir_diags *why = nullptr) const
    {
        using function = std::remove_reference_t<Now>;
        if (!get()) return XIR_E_INVALID;
        const xir_rule rule = { get(), [](xir_rewriter *at, const xir_match *m, const void *user) {
            function *f = const_cast<function *>(static_cast<const function *>(user));
            const value v = (*f)(*m, builder(xir_match_at(m)));
            if (v) return xir_match_replace(m, v);
            return xir_network_status(xir_rewriter_network(at)) ? XIR_REWRITE_FAILED : XIR_REWRITE_LEFT;
        }, static_cast<const void *>(&now) };
        return xir_network_rewrite(net, &rule, 1, sizeof rule, 0, n, why);
    }
};

/* Composes patterns. A part that cannot be made is NULL, so is what is made of it, and pattern() says why.
 *     xir::parts of(ctx);
 *     xir_part *x = of.any(), *gate = of.op<xir::ops::sigmoid>({ x });
 *     xir::pattern silu = of.pattern("silu", of.op<xir::ops::multiply>({ x, gate }, [](auto &row) {
 *         row.commutes = true;
 *     })); */
class parts : public handle<xir_parts, xir_parts_free> {
public:
    explicit parts(xir_context *ctx) : handle(xir_parts_new(ctx)) {}
    xir_part *any() { return xir_part_any(get()); }
    xir_part *params() { return xir_part_params(get()); }
    xir_part *rest() { return xir_part_rest(get()); }
    /* An operation of a class with these inputs; without inputs they are not tested. `set` gets the row. */
    template <class Op> xir_part *op(std::initializer_list<xir_part *> inputs)
    {
        return op<Op>(inputs, [](xir_pattern_row &) {});
    }
    template <class Op, class Set> xir_part *op(std::initializer_list<xir_part *> inputs, Set &&set)
    {
        xir_pattern_row row = {};
        row.kind = XIR_PATTERN_OP;
        row.classes[0] = Op::decl;
        set(row);
        return xir_part_new(get(), &row, sizeof row, inputs.begin(), inputs.size());
    }
    /* `closed`: the values inside are used by nothing else. */
    xir::pattern pattern(const char *name, const xir_part *root, bool closed = true, xir_diags *why = nullptr)
    {
        xir_pattern_decl decl = {};
        decl.abi = XIR_ABI;
        decl.size = sizeof decl;
        decl.row_size = sizeof(xir_pattern_row);
        decl.name = name;
        decl.closed = closed;
        return xir::pattern(xir_parts_pattern(get(), root, &decl, why));
    }
};

/* ---- functions by class ----------------------------------------------------------------------------------------- */

/* A table of functions by class or trait (see functor.h), for functions without state:
 *     xir::functor<void(writer &, xir::op)> emit(ctx);
 *     emit.set<xir::ops::conv2d>([](writer &out, xir::op conv) { … });
 *     if (auto *f = emit.of(o)) f(out, o); */
template <class Signature> class functor;
template <class Result, class... Args>
class functor<Result(Args...)> : public handle<xir_functor, xir_functor_free> {
public:
    using function = Result (*)(Args...);
    explicit functor(xir_context *ctx) : handle<xir_functor, xir_functor_free>(xir_functor_new(ctx)) {}
    template <class Op> xir_status set(function f) { return xir_functor_set(this->get(), Op::decl(), any(f)); }
    xir_status set_trait(xir_trait trait, function f) { return xir_functor_set_trait(this->get(), trait, any(f)); }
    xir_status set_rest(function f) { return xir_functor_set_rest(this->get(), any(f)); }
    function   of(op o) const
    {
        return reinterpret_cast<function>(xir_functor_find(this->get(), xir_op_class(o)));
    }

private:
    static xir_any_fn *any(function f) { return reinterpret_cast<xir_any_fn *>(f); }
};

}

#endif
