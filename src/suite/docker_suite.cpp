/// What does a container cost: of ours, and by the Engine's own ways?

#include "suite/docker_stand.hpp"
#include "suite/keyboard.hpp"
#include "suite/place_samples.hpp"
#include "suite/suite.hpp"

#include <berth/error.hpp>

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace berth::suite {
namespace {

constexpr std::size_t small = 4096;
constexpr std::size_t large = std::size_t{64} << 20;

/// What the rows share.
struct docker_rows {
  docker_rows(asio::io_context& io, shared_site site)
      : stand(std::make_shared<docker_stand>(io, site)), framed(container_place(io, site, kind_of_container::framed)) {}

  shared_stand stand;
  shared_place framed;
  subjects all = {};

  /// In the shared container.
  void add(bench::subject what, std::function<task<double>()> sample) {
    what.sample = std::move(sample);
    what.prepare = [stand = stand] { return open_stand(stand); };
    what.finish = [stand = stand] { return close_stand(stand); };
    all.push_back(std::move(what));
  }
};

// ---- files ----------------------------------------------------------------------------------------------------------

task<double> our_write(shared_stand stand, std::string name, std::size_t bytes) {
  context place = *stand->warm->place;
  std::string content(bytes, 'x');
  const bench::stopwatch watch;
  co_await place.write_file(stand->warm->where, std::move(name), std::move(content));
  co_return watch.micros();
}

task<void> open_with_file(shared_stand stand, std::string name, std::size_t bytes) {
  co_await open_stand(stand);
  (void)co_await our_write(std::move(stand), std::move(name), bytes);
}

task<double> our_read(shared_stand stand, std::string name, std::size_t bytes) {
  context place = *stand->warm->place;
  const bench::stopwatch watch;
  const auto content = co_await place.read_file(stand->warm->where, std::move(name));
  const double micros = watch.micros();
  if (content.size() != bytes) throw std::runtime_error("bytes are missing");
  co_return micros;
}

using file_sample = task<double> (*)(shared_stand, std::string, std::size_t);

task<double> in_millis(file_sample sample, shared_stand stand, std::string name) {
  const double micros = co_await sample(std::move(stand), std::move(name), large);
  co_return micros / 1000;
}

void add_files(docker_rows& rows) {
  const auto stand = rows.stand;
  const auto add = [&](bench::subject what, file_sample sample, const char* name) {
    rows.add(std::move(what), [stand, sample, name] { return sample(stand, name, small); });
    rows.all.back().prepare = [stand, name] { return open_with_file(stand, name, small); };
  };
  const auto add_large = [&](bench::subject what, file_sample sample, const char* name) {
    what.unit = "ms";
    what.runs = 20;
    what.warmup = 2;
    rows.add(std::move(what), [stand, sample, name] { return in_millis(sample, stand, name); });
    rows.all.back().prepare = [stand, name] { return open_with_file(stand, name, large); };
  };
  add({.name = "file/docker-read4k", .bases = {{"file/docker-archive4k", 0.02}}}, our_read, "read");
  add({.name = "file/docker-archive4k", .runs = 40}, archive_get, "read");
  add({.name = "file/docker-write4k", .bases = {{"file/docker-archive4k-put"}}}, our_write, "written");
  add({.name = "file/docker-archive4k-put", .runs = 40}, archive_put, "put");
  add_large({.name = "file/docker-64m-up", .bases = {{"file/docker-archive64m-put"}}}, our_write, "written-large");
  add_large({.name = "file/docker-archive64m-put"}, archive_put, "put-large");
  add_large({.name = "file/docker-64m-down", .bases = {{"file/docker-archive64m"}}}, our_read, "large");
  add_large({.name = "file/docker-archive64m"}, archive_get, "large");
}

// ---- commands -------------------------------------------------------------------------------------------------------

command zeros() { return command(zeros_words(container_stream)); }

void add_commands(docker_rows& rows) {
  const auto stand = rows.stand;
  const auto warm = stand->warm;
  const auto framed = rows.framed;
  rows.add({.name = "exec/docker", .bases = {{"exec/host", 1.5}, {"exec/docker-engine"}}, .runs = 300, .warmup = 10},
           [warm] { return one_exec(warm); });
  rows.all.push_back(in_place(framed, {.name = "exec/docker-frames", .bases = {{"exec/docker"}}, .sample = [framed] {
                                         return one_exec(framed);
                                       }}));
  rows.add({.name = "exec/docker-engine", .runs = 60, .warmup = 3}, [stand] { return engine_exec(stand); });
  const bench::subject rate{.unit = "exec/s", .direction = bench::better::more, .runs = 50, .warmup = 3};
  auto many = rate;
  many.name = "exec64/docker";
  many.bases = {{"exec64/host"}};
  rows.add(std::move(many), [warm] { return exec_rate(warm); });
}

void add_streams(docker_rows& rows) {
  const auto stand = rows.stand;
  const auto warm = stand->warm;
  const auto framed = rows.framed;
  const bench::subject rate{.unit = "MB/s", .direction = bench::better::more, .runs = 20, .warmup = 2};
  auto ours = rate;
  ours.name = "stream/docker";
  ours.bases = {{"stream/docker-attach", 0.2}};
  rows.add(std::move(ours), [warm] { return output_rate(warm, zeros(), container_stream); });
  auto far = rate;
  far.name = "stream/docker-frames";
  far.bases = {{"stream/docker-attach"}};
  far.sample = [framed] { return output_rate(framed, zeros(), container_stream); };
  rows.all.push_back(in_place(framed, std::move(far)));
  auto attach = rate;
  attach.name = "stream/docker-attach";
  rows.add(std::move(attach), [stand] { return engine_stream_rate(stand, container_stream); });
}

// ---- a terminal -----------------------------------------------------------------------------------------------------

task<void> open_terminal_of(shared_stand stand, shared_keyboard keys) {
  co_await open_stand(std::move(stand));
  co_await open_keyboard(std::move(keys));
}

task<void> close_terminal_of(shared_stand stand, shared_keyboard keys) {
  close_keyboard(*keys);
  co_await close_stand(std::move(stand));
}

void add_terminal(docker_rows& rows) {
  const auto stand = rows.stand;
  const auto keys = std::make_shared<keyboard>(stand->warm, command("stty raw -echo; printf x; exec cat"));
  rows.add({.name = "pty/docker", .bases = {{"pty/host"}}, .runs = 200}, [keys] { return press_keys(keys); });
  rows.all.back().prepare = [stand, keys] { return open_terminal_of(stand, keys); };
  rows.all.back().finish = [stand, keys] { return close_terminal_of(stand, keys); };
}

}  // namespace

subjects docker_suite(asio::io_context& io, shared_site site) {
  docker_rows rows(io, site);
  add_commands(rows);
  const auto fresh = container_place(io, site, kind_of_container::own);
  rows.all.push_back(
      in_place(fresh, {.name = "spawn/docker", .bases = {{"spawn/host"}}, .runs = 20, .warmup = 1, .sample = [fresh] {
                         return first_exec(fresh);
                       }}));
  add_streams(rows);
  add_terminal(rows);
  add_files(rows);
  return std::move(rows.all);
}

bool needs_docker(const bench::subject& what) { return what.name.find("/docker") != what.name.npos; }

task<std::string> why_no_docker(asio::io_context& io, shared_site site) {
  const auto warm = container_place(io, site, kind_of_container::own);
  std::string why;
  try {
    const auto engine = co_await connect_engine(io);
    site->image = co_await find_bench_image(engine, site->image);
    site->host = engine->address().url;
    co_await open_place(warm);
    context place = *warm->place;
    const exec_result done = co_await place.exec(warm->where, argv("/bin/true"));
    if (!done.ok()) why = "image " + site->image + ": /bin/true: " + describe(done.status);
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    why = failure.what();
  }
  co_await close_place(warm);
  co_return why;
}

}  // namespace berth::suite
