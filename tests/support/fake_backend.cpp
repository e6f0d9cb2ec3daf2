#include "support/fake_backend.hpp"

#include <berth/error.hpp>

#include <csignal>
#include <utility>

namespace berth::test {

fake_run::fake_run(asio::any_io_executor executor, command started)
    : what(std::move(started)), changed_(executor), input_changed_(executor) {}

fake_run& fake_run::push(process_event happened) {
  events_.push_back(std::move(happened));
  changed_.notify();
  return *this;
}

fake_run& fake_run::out(std::string bytes) { return push(chunk(output_stream::std_out, std::move(bytes))); }
fake_run& fake_run::err(std::string bytes) { return push(chunk(output_stream::std_err, std::move(bytes))); }

fake_run& fake_run::end_streams() {
  streams_ended_ = true;
  return push(streams_ended());
}

fake_run& fake_run::exit(int code) { return exit(exit_status::exited(code)); }

fake_run& fake_run::exit(exit_status status) {
  exited_ = true;
  close_input();
  process_exited end;
  end.status = std::move(status);
  end.usage.max_rss_bytes = 4096;
  return push(std::move(end));
}

fake_run& fake_run::end_tree(std::vector<survivor> survivors) {
  tree_ended end;
  end.survivors = std::move(survivors);
  return push(std::move(end));
}

fake_run& fake_run::lose(std::string message) {
  process_lost loss;
  loss.message = std::move(message);
  return push(std::move(loss));
}

fake_run& fake_run::close_input() {
  input_closed_ = true;
  input_changed_.notify();
  return *this;
}

void fake_run::die(fake_run& run, std::chrono::milliseconds grace) {
  if (!run.exited_) run.exit(exit_status::signaled(grace.count() == 0 ? SIGKILL : SIGTERM));
  if (!run.streams_ended_) run.end_streams();
  run.end_tree();
}

task<process_event> fake_run::next(std::shared_ptr<fake_run> self, std::chrono::steady_clock::time_point until) {
  if (self->pending_reads > 0) throw error(errc::internal, "fake: two callers in next()");
  struct pending {
    explicit pending(int& of) : count(of) { ++count; }
    ~pending() { --count; }
    int& count;
  };
  const pending here(self->pending_reads);
  while (self->events_.empty()) {
    if (std::chrono::steady_clock::now() >= until) co_return nothing_yet();
    (void)co_await self->changed_.wait_until(until);
  }
  process_event happened = std::move(self->events_.front());
  self->events_.pop_front();
  co_return happened;
}

task<void> fake_run::write(std::shared_ptr<fake_run> self, std::string bytes) {
  std::size_t done = 0;
  while (!self->input_closed_) {
    const auto size =
        std::min(bytes.size() - done, self->stdin_room - std::min(self->stdin_room, self->written.size()));
    self->written.append(bytes, done, size);
    done += size;
    if (done == bytes.size()) co_return;
    co_await self->input_changed_.wait();
  }
  throw error(std::make_error_code(std::errc::broken_pipe), "fake: nobody reads");
}

namespace {

class fake_process : public backend_process {
 public:
  explicit fake_process(std::shared_ptr<fake_run> run) : run_(std::move(run)) {}
  fake_process(const fake_process&) = delete;
  fake_process& operator=(const fake_process&) = delete;
  ~fake_process() override { run_->destroyed = true; }

  std::int64_t pid() const noexcept override { return 4711; }
  task<process_event> next(time_point until) override { return fake_run::next(run_, until); }
  bool has_exited() const noexcept override { return run_->knows_exit && run_->has_exited(); }
  task<void> write(std::string bytes) override { return fake_run::write(run_, std::move(bytes)); }
  void close_stdin() override { run_->stdin_closed = true; }
  void signal(int signo) override { run_->signals.push_back(signo); }
  void kill(std::chrono::milliseconds grace) override {
    run_->kills.push_back(grace);
    run_->on_kill(*run_, grace);
  }
  void resize(terminal_size size) override { run_->sizes.push_back(size); }
  task<std::vector<std::uint16_t>> ports() override { return list_ports(run_); }
  void abandon_streams() override { run_->abandoned = true; }
  task<std::optional<denial>> denied(exit_status) override { return answer(run_); }

 private:
  static task<std::optional<denial>> answer(std::shared_ptr<fake_run> run) {
    ++run->denied_asked;
    if (run->hold_denied) co_await run->hold_denied->wait();
    co_return run->denied;
  }

  static task<std::vector<std::uint16_t>> list_ports(std::shared_ptr<fake_run> run) { co_return run->ports; }

  std::shared_ptr<fake_run> run_;
};

}  // namespace

class fake_backend::place : public backend_place {
 public:
  place(asio::any_io_executor executor, std::shared_ptr<fake_backend*> owner, std::string id)
      : executor_(std::move(executor)), owner_(std::move(owner)), id_(std::move(id)) {}
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  ~place() override {
    for (const auto& run : runs_) run->lose("the place is gone");
    if (*owner_ != nullptr) (*owner_)->dropped.push_back(id_);
  }

  task<std::unique_ptr<backend_process>> start(command what) override { return start_in(this, std::move(what)); }
  task<void> destroy() override { return destroy_all(this); }

 private:
  static task<std::unique_ptr<backend_process>> start_in(place* self, command what) {
    fake_backend& owner = **self->owner_;
    if (owner.hold_start) co_await owner.hold_start->wait();
    const auto run = std::make_shared<fake_run>(self->executor_, std::move(what));
    owner.runs.push_back(run);
    self->runs_.push_back(run);
    owner.on_start(*run);
    co_return std::make_unique<fake_process>(run);
  }

  static task<void> destroy_all(place* self) {
    for (const auto& run : self->runs_) fake_run::die(*run, std::chrono::milliseconds(0));
    self->runs_.clear();
    (*self->owner_)->destroyed.push_back(self->id_);
    co_return;
  }

  asio::any_io_executor executor_;
  std::shared_ptr<fake_backend*> owner_;
  std::string id_;
  std::vector<std::shared_ptr<fake_run>> runs_;
};

fake_backend::fake_backend(asio::any_io_executor executor)
    : executor_(std::move(executor)), self_(std::make_shared<fake_backend*>(this)) {
  abilities.kills_tree = true;
  abilities.separate_stderr = true;
  abilities.stdin_stream = true;
  abilities.signals = true;
  abilities.lists_ports = true;
}

fake_backend::~fake_backend() { *self_ = nullptr; }

task<spawned_place> fake_backend::spawn(std::string id, spawn_options options) {
  if (hold_spawn) co_await hold_spawn->wait();
  spawned_place made;
  made.place = std::make_shared<place>(executor_, self_, std::move(id));
  made.cwd = options.cwd().empty() ? "/home" : options.cwd();
  co_return made;
}

}  // namespace berth::test
