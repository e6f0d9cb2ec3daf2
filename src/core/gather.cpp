#include "core/gather.hpp"

#include <cstddef>
#include <utility>

namespace berth {

task<std::shared_ptr<gathered>> gather(byte_source& from) {
  constexpr std::size_t enough = std::size_t{1} << 20;
  auto all = std::make_shared<gathered>();
  while (!all->ended && all->bytes.size() < enough) {
    std::string piece = co_await from.next();
    all->ended = piece.empty();
    if (all->bytes.empty())
      all->bytes = std::move(piece);
    else
      all->bytes += piece;
  }
  co_return all;
}

}  // namespace berth
