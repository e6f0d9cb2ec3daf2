#pragma once
// Names that moved between the releases of Asio that we build with.

#if __has_include(<asio/as_tuple.hpp>)
#include <asio/as_tuple.hpp>
#else
#include <asio/experimental/as_tuple.hpp>
#endif

namespace berth {

#if __has_include(<asio/as_tuple.hpp>)
using asio::as_tuple;
#else
using asio::experimental::as_tuple;
#endif

}  // namespace berth
