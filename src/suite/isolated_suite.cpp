/// What does a kernel sandbox cost that is opened once for a handle; and one for each command?

#include "host/environment.hpp"
#include "host/isolation_site.hpp"
#include "isolation/bwrap.hpp"
#include "suite/floor.hpp"
#include "suite/place_samples.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <berth/error.hpp>

#include <fcntl.h>

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

  scratch_directory directory{"berth-bench"};
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

task<double> sandboxed_exec(shared_sandbox bare) {
  const bench::stopwatch watch;
  (*bare)->run();
  co_return watch.micros();
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
                 .sample = [bare] { return sandboxed_exec(bare); },
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
  add(bytes, "stream/isolated", {{"stream/host"}}, stream_rate);
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
