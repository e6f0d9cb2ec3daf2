#include "context/resident_process.hpp"

#include "context/resident_command.hpp"

namespace berth {
namespace {

class resident_process final : public backend_process {
 public:
  explicit resident_process(std::shared_ptr<resident_command> state) : state_(std::move(state)) {}
  ~resident_process() override {
    if (state_->is_copy()) {
      new std::shared_ptr<resident_command>(state_);  // for the rest of the copy's life
    } else {
      state_->release();
    }
  }

  std::int64_t pid() const noexcept override { return state_->pid(); }
  bool has_exited() const noexcept override { return state_->has_exited(); }
  bool is_over() const noexcept override { return state_->is_over(); }
  task<process_event> next(time_point until) override { return resident_command::next(state_, until); }
  task<void> write(std::string bytes) override { return state_->write(std::move(bytes)); }
  void close_stdin() override { state_->close_stdin(); }
  void signal(int signo) override { state_->signal(signo); }
  void resize(terminal_size size) override { state_->resize(size); }
  void kill(std::chrono::milliseconds grace) override { state_->kill(grace); }
  task<std::vector<std::uint16_t>> ports() override { return resident_command::ports(state_); }
  void abandon_streams() override { state_->abandon_streams(); }

 private:
  std::shared_ptr<resident_command> state_;
};

}  // namespace

task<std::unique_ptr<backend_process>> start_on_resident(std::shared_ptr<resident_session> session, command what,
                                                         std::shared_ptr<const std::vector<std::string>> changes,
                                                         resident_transport transport,
                                                         std::shared_ptr<const cgroup_place> place) {
  const bool handed = transport == resident_transport::handed;
  start_request request(what, *changes, handed, place.get());
  if (!request.cgroup().empty()) session->use_cgroups(request.cgroup());
  std::shared_ptr<resident_command> state;
  if (handed) {
    state = make_handed_command(session, std::move(request));
  } else {
    state = make_framed_command(session, std::move(request));
  }
  // From here on a cancellation kills what was started.
  std::unique_ptr<backend_process> process = std::make_unique<resident_process>(state);
  if (session->lost()) {
    state->on_lost(session->cause());
  } else {
    state->begin();
  }
  while (!state->settled()) co_await state->changed().wait();
  co_return process;
}

}  // namespace berth
