#include "suite/warm_place.hpp"

#include "suite/floor.hpp"

#include <stdexcept>
#include <utility>

namespace berth::suite {

namespace {

context make_here(warm_place& warm) {
  process_context_options options;
  if (warm.isolated) {
    if (!warm.directory) warm.directory.emplace("berth-bench");
    options.cwd = warm.directory->path();
    options.isolation = isolation_settings();
    // A worker is this program, which a private /tmp would hide.
    const std::string program = own_path();
    const bool is_hidden = program.starts_with("/tmp/") || program.starts_with("/var/tmp/");
    if (is_hidden) options.isolation->tmp(tmp_kind::host);
  }
  return make_process_context(warm.io, std::move(options));
}

}  // namespace

task<void> open_place(shared_place warm) {
  if (warm->place) co_return;
  context place = warm->make ? warm->make() : make_here(*warm);
  warm->where = co_await place.spawn();
  warm->place = std::move(place);
}

task<void> close_place(shared_place warm) {
  if (!warm->place) co_return;
  context place = *warm->place;
  warm->place.reset();
  const handle where = warm->where;
  co_await place.destroy(where);
  warm->directory.reset();
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
