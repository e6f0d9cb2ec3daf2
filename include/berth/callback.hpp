#pragma once
/// Which callbacks a setter takes.

#include <type_traits>

namespace berth {

/// A callback that may be given in an awaited expression: a named one, or a temporary that owns nothing (g++ 12 destroys
/// temporary lambdas with owning captures twice).
template <class Callback>
concept named_callback =
    std::is_lvalue_reference_v<Callback> || std::is_trivially_destructible_v<std::remove_reference_t<Callback>>;

}  // namespace berth
