#include "suite/warm_place.hpp"

#include <stdexcept>
#include <utility>

namespace berth::suite {

task<void> open_place(shared_place warm) {
  if (warm->place) co_return;
  context place = make_process_context(warm->io);
  warm->where = co_await place.spawn();
  warm->place = std::move(place);
}

task<void> close_place(shared_place warm) {
  if (!warm->place) co_return;
  context place = *warm->place;
  warm->place.reset();
  const handle where = warm->where;
  co_await place.destroy(where);
}

bench::subject in_place(shared_place warm, bench::subject what) {
  what.prepare = [warm] { return open_place(warm); };
  what.finish = [warm] { return close_place(warm); };
  return what;
}

void require_ok(const exit_status& status) {
  if (!status.ok()) throw std::runtime_error(describe(status));
}

task<void> exec_true(context place, handle where) {
  const auto result = co_await place.exec(std::move(where), argv("/bin/true"));
  require_ok(result.status);
}

}  // namespace berth::suite
