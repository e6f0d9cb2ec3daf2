#include "context/kept_commands.hpp"

#include <berth/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace berth {
namespace {

/// Longer than it takes to read what the commands of a destroyed place have left in their pipes.
constexpr std::chrono::seconds reading_takes{5};

}  // namespace

/// Keeps others from starting the same key meanwhile.
class kept_commands::reservation {
 public:
  reservation(const std::shared_ptr<kept_commands>& of, name what, asio::any_io_executor executor)
      : of_(of), what_(std::move(what)), over_(std::make_shared<event>(std::move(executor))) {
    of->starting_.emplace(what_, over_);
  }
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation() {
    if (const auto self = of_.lock()) self->starting_.erase(what_);
    over_->notify();
  }

 private:
  std::weak_ptr<kept_commands> of_;
  name what_;
  std::shared_ptr<event> over_;
};

kept_commands::kept_commands(asio::any_io_executor executor) : pumps_(std::move(executor)) {}

std::shared_ptr<kept_commands> kept_commands::open(const std::weak_ptr<kept_commands>& at) {
  auto self = at.lock();
  if (!self || self->closed_) throw error(errc::destroyed, "the handle was destroyed while a command was started");
  return self;
}

std::shared_ptr<kept_command> kept_commands::find(const name& wanted) const {
  for (const entry& each : all_) {
    const bool is_it = each.kind == wanted.first && each.what->id() == wanted.second;
    if (is_it && !each.what->never_ran() && !each.what->forgotten()) return each.what;
  }
  return nullptr;
}

std::string kept_commands::new_name(kept_kind kind) {
  const std::string word = kind == kept_kind::terminal ? "terminal-" : "background-";
  for (;;) {
    const std::string one = word + std::to_string(++named_);
    const name whole(kind, one);
    if (!find(whole) && !starting_.contains(whole)) return one;
  }
}

task<kept_spills> kept_commands::open_spills(std::shared_ptr<blocking_pool> pool, std::string path, bool merged) {
  kept_spills files;
  files.out = co_await spill_file::open(pool, path);
  if (!merged) files.err = co_await spill_file::open(pool, path + ".stderr");
  co_return files;
}

task<std::shared_ptr<kept_command>> kept_commands::start(std::weak_ptr<kept_commands> at, exec_place where,
                                                         command what, wish wanted) {
  auto self = open(at);
  name mine(wanted.kind, what.key().empty() ? self->new_name(wanted.kind) : what.key());
  for (;;) {
    if (auto there = self->find(mine)) co_return there;
    const auto other = self->starting_.find(mine);
    if (other == self->starting_.end()) break;
    const auto over = other->second;
    self.reset();
    co_await over->wait();
    self = open(at);
  }
  const reservation kept(self, mine, where.executor);
  self.reset();

  const auto executor = where.executor;
  const command rules = what;
  std::unique_ptr<kept_spills> spills;
  if (!what.spill().empty()) {
    const bool merged = what.merges_stderr() || what.terminal();
    kept_spills files = co_await open_spills(where.pool, what.spill(), merged);
    spills = std::make_unique<kept_spills>(std::move(files));
  }
  auto core = co_await start_process(std::move(where), std::move(what));
  // From here on it is killed if it does not get into the list.
  const auto one = std::make_shared<kept_command>(executor, mine.second, rules, core);
  if (spills) one->spill_to(std::move(*spills));
  co_await process_core::settle(core);
  self = open(at);
  one->attach(0, std::move(wanted.on_data));
  self->add(wanted.kind, one);
  self.reset();
  // Its spills are closed before its status is told.
  if (one->never_ran()) co_await kept_command::wait(one);
  co_return one;
}

void kept_commands::add(kept_kind kind, const std::shared_ptr<kept_command>& one) {
  forget_ended();
  all_.push_back({kind, one});
  pumps_.spawn(kept_command::pump(one));
}

void kept_commands::forget_ended() {
  std::erase_if(all_, [](const entry& each) { return each.what->forgotten(); });
  std::vector<kept_command::clock::time_point> ends;
  const auto unwanted = [](const entry& each) { return each.what->status() && each.what.use_count() == 1; };
  for (const entry& each : all_) {
    if (unwanted(each)) ends.push_back(each.what->ended_at());
  }
  if (ends.size() <= ended_kept) return;
  const auto last = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() - ended_kept);
  std::nth_element(ends.begin(), last, ends.end());
  std::erase_if(all_, [&](const entry& each) { return unwanted(each) && each.what->ended_at() < *last; });
}

std::vector<std::shared_ptr<kept_command>> kept_commands::list(kept_kind kind) const {
  std::vector<std::shared_ptr<kept_command>> some;
  for (const entry& each : all_) {
    if (each.kind == kind && !each.what->forgotten()) some.push_back(each.what);
  }
  return some;
}

void kept_commands::close() {
  closed_ = true;
  for (const entry& each : all_) each.what->place_ends();
}

task<void> kept_commands::join(std::shared_ptr<kept_commands> self) {
  const bool ended = co_await self->pumps_.ended_by(std::chrono::steady_clock::now() + reading_takes);
  if (!ended) self->pumps_.cancel();
  co_await self->pumps_.join();
}

}  // namespace berth
