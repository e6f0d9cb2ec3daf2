#include "context/fake_resident.hpp"
#include "context/fake_world.hpp"
#include "support/running.hpp"

#include "berth/error.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

const auto no_changes = std::make_shared<const std::vector<std::string>>();

struct pipe_pair {
  pipe_pair() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
  }
  unique_fd reading;
  unique_fd writing;
};

task<void> connect(fake_pair& pair) {
  auto attach = pair.link->attach(pair.ours);
  running<bool> attaching(pair.link->session()->executor(), [](task<void> work) -> task<bool> {
    co_await std::move(work);
    co_return true;
  }(std::move(attach)));
  co_await pair.resident->greet();
  (void)co_await attaching.result();
}

using started_process = running<std::unique_ptr<backend_process>>;

started_process start(fake_pair& pair, command what, resident_transport transport) {
  const auto& session = pair.link->session();
  return {session->executor(), start_on_resident(session, std::move(what), no_changes, transport)};
}

/// Answers a handed start; what it keeps are the write ends.
task<std::pair<unique_fd, unique_fd>> hand_over(fake_pair& pair) {
  const seen_frame request = co_await pair.resident->next();
  CHECK(request.header.type == wire::frame_type::start);
  pipe_pair out;
  pipe_pair err;
  std::vector<unique_fd> fds;
  fds.push_back(std::move(out.reading));
  fds.push_back(std::move(err.reading));
  pair.resident->send(make_number_frame(wire::frame_type::started, request.header.id, 77), std::move(fds));
  co_return std::make_pair(std::move(out.writing), std::move(err.writing));
}

std::string exited_frame(std::uint32_t id, std::uint32_t status, std::uint32_t cgroup_events = 0) {
  wire::exited end;
  end.wait_status = status;
  end.user_us = 5;
  end.cgroup_events = cgroup_events;
  std::string payload;
  end.put(payload);
  return make_frame(wire::frame_type::exited, id, wire::stream::in, payload);
}

ASYNC_TEST("link: a resident that says nothing is a timeout") {
  resident_link_options options;
  options.hello_timeout = 50ms;
  fake_pair pair(io.get_executor(), std::move(options));
  std::error_code code;
  try {
    co_await pair.link->attach(pair.ours);
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(code == errc::timeout);
  CHECK(pair.link->lost());
}

ASYNC_TEST("link: handed pipes are read without the resident, then exit and end are told") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  auto process = co_await starting.result();
  CHECK(process->pid() == 77);
  CHECK(::write(ends.first.get(), "one", 3) == 3);
  CHECK(::write(ends.second.get(), "two", 3) == 3);
  auto first = co_await process->next(clock::time_point::max());
  auto second = co_await process->next(clock::time_point::max());
  CHECK(std::get<chunk>(first).bytes().size() == 3);
  CHECK(std::get<chunk>(first).stream() != std::get<chunk>(second).stream());
  auto nothing = co_await process->next(clock::now() + 10ms);
  CHECK(std::holds_alternative<nothing_yet>(nothing));
  ends.first.reset();
  ends.second.reset();
  pair.resident->send(exited_frame(1, 9));
  auto event = co_await process->next(clock::time_point::max());
  if (std::holds_alternative<streams_ended>(event)) event = co_await process->next(clock::time_point::max());
  CHECK(std::get<process_exited>(event).status == exit_status::signaled(9));
  CHECK(process->has_exited());
}

task<exit_status> status_after(fake_pair& pair, std::uint32_t id, std::uint32_t status, std::uint32_t cgroup_events) {
  auto starting = start(pair, argv("x"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  auto process = co_await starting.result();
  pair.resident->send(exited_frame(id, status, cgroup_events));
  auto event = co_await process->next(clock::time_point::max());
  process.reset();
  const seen_frame given_back = co_await pair.resident->next();
  CHECK(given_back.header.type == wire::frame_type::abandon);
  co_return std::get<process_exited>(event).status;
}

ASYNC_TEST("link: what the cgroup of a command saw becomes its status") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  const exit_status memory = co_await status_after(pair, 1, 9, wire::cgroup_oom_kill);
  CHECK(memory == exit_status(end_reason::oom_killed, 137, 9));
  const exit_status other = co_await status_after(pair, 2, 15, wire::cgroup_oom_kill);
  CHECK(other == exit_status::signaled(15));
  const exit_status refused = co_await status_after(pair, 3, 2 << 8, wire::cgroup_fork_refused);
  CHECK(refused.reason() == end_reason::exited);
  CHECK(refused.limit() == limit_kind::processes);
  const exit_status managed = co_await status_after(pair, 4, 0, wire::cgroup_fork_refused);
  CHECK(managed == exit_status::exited(0));
}

ASYNC_TEST("link: with a time in the past next() looks, and finds what lies in the pipe") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  auto process = co_await starting.result();
  CHECK(::write(ends.first.get(), "there", 5) == 5);
  auto found = co_await process->next(clock::now() - 1s);
  CHECK(std::get<chunk>(found).bytes() == "there");
  auto none = co_await process->next(clock::now() - 1s);
  CHECK(std::holds_alternative<nothing_yet>(none));
}

ASYNC_TEST("link: a process destroyed before its end is killed, and late descriptors are closed") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  const seen_frame request = co_await pair.resident->next();
  starting.cancel();
  const seen_frame kill = co_await pair.resident->next();
  CHECK(kill.header.type == wire::frame_type::kill);
  CHECK(kill.header.id == request.header.id);
  pipe_pair out;
  std::vector<unique_fd> fds;
  fds.push_back(std::move(out.reading));
  pair.resident->send(make_number_frame(wire::frame_type::started, request.header.id, 77), std::move(fds));
  auto next = start(pair, argv("y"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  (void)co_await next.result();
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  CHECK(::write(out.writing.get(), "x", 1) < 0);
  ::signal(SIGPIPE, old);
}

ASYNC_TEST("link: a command whose descriptors did not come is killed and never ran") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  const seen_frame request = co_await pair.resident->next();
  pair.resident->send(make_number_frame(wire::frame_type::started, request.header.id, 77));
  auto process = co_await starting.result();
  auto event = co_await process->next(clock::time_point::max());
  CHECK(std::get<process_exited>(event).status.reason() == end_reason::start_failed);
  event = co_await process->next(clock::time_point::max());
  CHECK(std::holds_alternative<streams_ended>(event));
  const seen_frame kill = co_await pair.resident->next();
  CHECK(kill.header.type == wire::frame_type::kill);
}

ASYNC_TEST("link: framed output is granted again as it is read") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::framed);
  const seen_frame request = co_await pair.resident->next();
  const std::uint32_t id = request.header.id;
  pair.resident->send(make_number_frame(wire::frame_type::started, id, 77));
  auto process = co_await starting.result();
  const std::string block(wire::max_data, 'b');
  for (int i = 0; i < 4; ++i) pair.resident->send(make_frame(wire::frame_type::output, id, wire::stream::err, block));
  pair.resident->send(make_frame(wire::frame_type::output_end, id, wire::stream::out));
  pair.resident->send(make_frame(wire::frame_type::output_end, id, wire::stream::err));
  std::size_t seen = 0;
  while (seen < 4 * block.size()) {
    auto event = co_await process->next(clock::time_point::max());
    CHECK(std::get<chunk>(event).stream() == output_stream::std_err);
    seen += std::get<chunk>(event).bytes().size();
    if (seen == block.size()) {
      const seen_frame credit = co_await pair.resident->next();
      CHECK(credit.header.type == wire::frame_type::credit);
      CHECK(credit.header.stream == 2);
    }
  }
  auto end = co_await process->next(clock::time_point::max());
  CHECK(std::holds_alternative<streams_ended>(end));
}

ASYNC_TEST("link: framed input waits for credit") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x").input_stream(), resident_transport::framed);
  const seen_frame request = co_await pair.resident->next();
  pair.resident->send(make_number_frame(wire::frame_type::started, request.header.id, 77));
  auto process = co_await starting.result();
  running<bool> writing(io.get_executor(), [](task<void> work) -> task<bool> {
    co_await std::move(work);
    co_return true;
  }(process->write(std::string(wire::initial_credit + 1, 'i'))));
  std::size_t seen = 0;
  while (seen < wire::initial_credit) {
    const seen_frame input = co_await pair.resident->next();
    CHECK(input.header.type == wire::frame_type::input);
    seen += input.payload.size();
  }
  CHECK_FALSE(writing.ended());
  pair.resident->send(make_number_frame(wire::frame_type::credit, request.header.id, 100));
  (void)co_await writing.result();
  const seen_frame last = co_await pair.resident->next();
  CHECK(last.payload == "i");
  process->close_stdin();
  const seen_frame end = co_await pair.resident->next();
  CHECK(end.header.type == wire::frame_type::input_end);
}

ASYNC_TEST("link: when the resident goes, what came is still there, and then the command is lost") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  auto process = co_await starting.result();
  CHECK(::write(ends.first.get(), "last", 4) == 4);
  pair.resident->close();
  auto event = co_await process->next(clock::time_point::max());
  CHECK(std::get<chunk>(event).bytes() == "last");
  event = co_await process->next(clock::time_point::max());
  CHECK(std::get<process_lost>(event).message.find("lost") == 0);
  CHECK(pair.link->lost());
}

ASYNC_TEST("link: streams given up go back to the resident") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  auto process = co_await starting.result();
  process->abandon_streams();
  const seen_frame abandon = co_await pair.resident->next();
  CHECK(abandon.header.type == wire::frame_type::abandon);
  CHECK(abandon.fds.size() == 2);
  auto event = co_await process->next(clock::time_point::max());
  CHECK(std::holds_alternative<streams_ended>(event));
}

using ports_answer = running<std::vector<std::uint16_t>>;

std::string ports_frame(std::uint32_t id, std::uint16_t port) {
  std::string payload;
  wire::writer(payload).u32(1).u16(port);
  return make_frame(wire::frame_type::port_list, id, wire::stream::in, payload);
}

ASYNC_TEST("link: an answer about ports belongs to its question, also where one before was given up") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  auto process = co_await starting.result();
  ports_answer given_up(io.get_executor(), process->ports());
  ports_answer asked(io.get_executor(), process->ports());
  for (int i = 0; i < 2; ++i) {
    const seen_frame question = co_await pair.resident->next();
    CHECK(question.header.type == wire::frame_type::ports);
    CHECK(question.header.id == 1);
  }
  given_up.cancel();
  pair.resident->send(ports_frame(1, 1111));
  co_await pause_for(20ms);
  CHECK_FALSE(asked.ended());
  pair.resident->send(ports_frame(1, 2222));
  const auto answer = co_await asked.result();
  CHECK(answer == std::vector<std::uint16_t>{2222});
}

ASYNC_TEST("link: ports that were asked for of a resident that goes are lost") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x"), resident_transport::handed);
  auto ends = co_await hand_over(pair);
  auto process = co_await starting.result();
  ports_answer asked(io.get_executor(), process->ports());
  (void)co_await pair.resident->next();
  pair.resident->close();
  std::error_code code = co_await code_of(asked.result());
  CHECK(code == errc::lost);
  code = co_await code_of(process->ports());
  CHECK(code == errc::lost);
}

ASYNC_TEST("link: a framed terminal is resized by a frame, and has one stream") {
  fake_pair pair(io.get_executor());
  co_await connect(pair);
  auto starting = start(pair, argv("x").terminal(100, 30), resident_transport::framed);
  const seen_frame request = co_await pair.resident->next();
  wire::reader fields(request.payload);
  wire::start asked;
  CHECK(asked.get(fields));
  CHECK((asked.flags & wire::start_terminal) != 0);
  CHECK(asked.columns == 100);
  CHECK(asked.rows == 30);
  pair.resident->send(make_number_frame(wire::frame_type::started, 1, 5));
  auto process = co_await starting.result();
  process->resize(terminal_size(120, 40));
  const seen_frame resize = co_await pair.resident->next();
  wire::resize size;
  CHECK(size.get(resize.payload));
  CHECK(size.columns == 120);
  CHECK(size.rows == 40);
  pair.resident->send(make_frame(wire::frame_type::output_end, 1, wire::stream::out));
  const auto event = co_await process->next(clock::time_point::max());
  CHECK(std::holds_alternative<streams_ended>(event));
}

}  // namespace
}  // namespace berth::test
