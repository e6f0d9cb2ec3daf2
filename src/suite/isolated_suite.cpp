/// What does a kernel sandbox cost that is opened once for a handle; and one for each command?

#include "core/task_group.hpp"
#include "host/environment.hpp"
#include "host/isolation_site.hpp"
#include "isolation/bwrap.hpp"
#include "suite/floor.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <berth/error.hpp>

#include <fcntl.h>
#include <asio/this_coro.hpp>

#include <stdexcept>
#include <system_error>
#include <utility>

namespace berth::suite {
namespace {

/// bwrap with the words for one command: the policy of a handle, without the handle.
struct bare_sandbox {
  bare_sandbox() : site(isolation_settings(), directory.path()), made(site.prepare(environment)) {
    // Every start reads it.
    ::fcntl(made.filter.get(), F_SETFD, 0);
    words = {made.program};
    for (auto& word : bwrap_arguments(made.plan, environment, made.filter.get())) words.push_back(std::move(word));
    words.insert(words.end(), {"--", "/bin/true"});
  }

  void run() const {
    ::lseek(made.filter.get(), 0, SEEK_SET);
    wait_bare(start_bare(words));
  }

  scratch_directory directory;
  std::vector<std::string> environment = inherited_environment({"*"});
  isolation_site site;
  prepared_sandbox made;
  std::vector<std::string> words;
};
using shared_sandbox = std::shared_ptr<std::unique_ptr<bare_sandbox>>;

task<void> make_bare(shared_sandbox bare) {
  *bare = std::make_unique<bare_sandbox>();
  co_return;
}

task<void> drop_bare(shared_sandbox bare) {
  bare->reset();
  co_return;
}

task<double> bare_exec(shared_sandbox bare) {
  const bench::stopwatch watch;
  (*bare)->run();
  co_return watch.micros();
}

task<double> one_exec(shared_place warm) {
  context place = *warm->place;
  const bench::stopwatch watch;
  co_await exec_true(std::move(place), warm->where);
  co_return watch.micros();
}

task<double> exec_rate(shared_place warm) {
  const auto executor = co_await asio::this_coro::executor;
  task_group group(executor);
  const bench::stopwatch watch;
  for (int i = 0; i < execs_at_once; ++i) group.spawn(exec_true(*warm->place, warm->where));
  co_await group.join();
  co_return execs_at_once * 1e6 / watch.micros();
}

task<double> first_exec(shared_place warm) {
  context place = *warm->place;
  const bench::stopwatch watch;
  const handle fresh = co_await place.spawn();
  co_await exec_true(place, fresh);
  const double micros = watch.micros();
  co_await place.destroy(fresh);
  co_return micros;
}

task<double> stream(shared_place warm) {
  context place = *warm->place;
  command worker(worker_words("write", std::to_string(stream_total)));
  const bench::stopwatch watch;
  auto process = co_await place.exec_stream(warm->where, std::move(worker));
  std::size_t seen = 0;
  for (;;) {
    const auto piece = co_await process.next();
    if (!piece) break;
    seen += piece->bytes().size();
  }
  const double micros = watch.micros();
  require_ok(*process.status());
  if (seen != stream_total) throw std::runtime_error("only " + std::to_string(seen) + " came");
  co_return static_cast<double>(stream_total) / micros;
}

}  // namespace

subjects isolated_suite(asio::io_context& io) {
  const auto warm = std::make_shared<warm_place>(io, true);
  const auto bare = std::make_shared<std::unique_ptr<bare_sandbox>>();
  subjects all;
  all.push_back({.name = "exec/bwrap-per-call",
                 .bases = {{"exec/host"}},
                 .runs = 300,
                 .warmup = 10,
                 .sample = [bare] { return bare_exec(bare); },
                 .prepare = [bare] { return make_bare(bare); },
                 .finish = [bare] { return drop_bare(bare); }});
  const auto add = [&](bench::subject like, std::string name, std::vector<bench::base> bases,
                       task<double> (*sample)(shared_place)) {
    like.name = std::move(name);
    like.bases = std::move(bases);
    like.sample = [warm, sample] { return sample(warm); };
    all.push_back(in_place(warm, std::move(like)));
  };
  const bench::subject one{.runs = 300, .warmup = 10};
  add(one, "exec/isolated", {{"exec/host", 1.3}, {"exec/bwrap-per-call"}}, one_exec);
  const bench::subject rate{.unit = "exec/s", .direction = bench::better::more, .runs = 50, .warmup = 3};
  add(rate, "exec64/isolated", {{"exec64/host"}}, exec_rate);
  const bench::subject bytes{.unit = "MB/s", .direction = bench::better::more, .runs = 20, .warmup = 2};
  add(bytes, "stream/isolated", {{"stream/host"}}, stream);
  const bench::subject fresh{.runs = 50};
  add(fresh, "spawn/isolated", {{"spawn/host"}}, first_exec);
  return all;
}

bool needs_sandbox(const bench::subject& what) {
  return what.name.ends_with("/isolated") || what.name == "exec/bwrap-per-call";
}

task<std::string> why_no_sandbox(asio::io_context& io) {
  const auto warm = std::make_shared<warm_place>(io, true);
  std::string why;
  try {
    co_await open_place(warm);
    context place = *warm->place;
    const exec_result done = co_await place.exec(warm->where, argv("/bin/true"));
    if (!done.ok()) why = describe(done.status);
    if (done.status.reason() == end_reason::start_failed) why = done.status.message();
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    why = failure.what();
  }
  co_await close_place(warm);
  co_return why;
}

}  // namespace berth::suite
