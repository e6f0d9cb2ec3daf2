/// What a backend denied a command, on its way to the user.
#include "support/async.hpp"
#include "support/fake_backend.hpp"
#include "support/running.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <berth/background.hpp>
#include <berth/context.hpp>
#include <berth/terminal.hpp>

#include <memory>

namespace berth::test {
namespace {

using namespace std::chrono_literals;

struct denying {
  explicit denying(asio::io_context& io)
      : backend(std::make_shared<fake_backend>(io.get_executor())), place(io.get_executor(), backend) {
    backend->abilities.separate_stderr = true;
    backend->abilities.terminals = true;
    backend->on_start = [this](fake_run& run) {
      run.denied = denial{denied_kind::write, "/etc/x", "[isolation] no"};
      if (behave) behave(run);
    };
  }

  std::shared_ptr<fake_backend> backend;
  context place;
  std::function<void(fake_run&)> behave;
};

void complain(fake_run& run) { run.out("out\n").err("read-only\n").exit(1).end_streams(); }

ASYNC_TEST("denied: exec has the line at the end of standard error, and counts the command's bytes only") {
  denying here(io);
  here.behave = complain;
  const handle where = co_await here.place.spawn();
  const exec_result got = co_await here.place.exec(where, command("x"));
  CHECK(got.status == exit_status::exited(1));
  CHECK(got.std_out == "out\n");
  CHECK(got.std_err == "read-only\n[isolation] no\n");
  CHECK(got.err_text() == got.std_err);
  CHECK(got.err.seen() == 10);
  CHECK(got.err.kept() == 10);
  CHECK(!got.err.truncated());
  CHECK(got.denied->path == "/etc/x");
  CHECK(here.backend->last().denied_asked == 1);
  co_await here.place.destroy(where);
}

ASYNC_TEST("denied: the line begins a line, also where the output is cut, and is in no spill file") {
  denying here(io);
  const temp_dir at;
  here.behave = [](fake_run& run) { run.err("first, middle, last").exit(1).end_streams(); };
  const handle where = co_await here.place.spawn();
  const exec_result got = co_await here.place.exec(where, command("x").output_limit(8).spill(at / "log"));
  CHECK(got.std_err == "firslast\n[isolation] no\n");
  CHECK(got.err_text() == "firs\n[... 11 bytes left out ...]\nlast\n[isolation] no\n");
  CHECK(got.err.seen() == 19);
  CHECK(got.err.kept() == 8);
  CHECK(read_whole_file(at / "log.stderr") == "first, middle, last");
  co_await here.place.destroy(where);
}

ASYNC_TEST("denied: merged output has the line at its end, and so has a terminal, in its way") {
  denying here(io);
  here.behave = [](fake_run& run) { run.out("text").exit(0).end_streams(); };
  const handle where = co_await here.place.spawn();
  exec_result got = co_await here.place.exec(where, command("x").merge_stderr());
  CHECK(got.std_out == "text\n[isolation] no\n");
  CHECK(got.std_err == "");
  CHECK(got.ok());
  got = co_await here.place.exec(where, command("x").terminal(80, 24));
  CHECK(got.std_out == "text\r\n[isolation] no\r\n");
  terminal shown = co_await here.place.open_terminal(where, terminal_options().run(command("x")));
  (void)co_await shown.exited();
  CHECK(shown.tail().bytes() == "text\r\n[isolation] no\r\n");
  CHECK(shown.denied().has_value());
  co_await here.place.destroy(where);
}

ASYNC_TEST("denied: without hints the output is the command's alone, and the result tells it") {
  denying here(io);
  here.behave = complain;
  const handle where = co_await here.place.spawn();
  const exec_result got = co_await here.place.exec(where, command("x").hints(false));
  CHECK(got.std_err == "read-only\n");
  CHECK(got.denied.has_value());
  co_await here.place.destroy(where);
}

ASYNC_TEST("denied: a stream ends with the line, also where something left running holds it open") {
  denying here(io);
  here.behave = [](fake_run& run) { run.err("read-only\n").exit(1); };
  const handle where = co_await here.place.spawn();
  process running = co_await here.place.exec_stream(where, command("x"));
  auto piece = co_await running.next();
  CHECK(!piece->is_hint());
  CHECK(!running.denied());
  piece = co_await running.next();
  CHECK(piece->is_hint());
  CHECK(piece->bytes() == "[isolation] no\n");
  CHECK(piece->stream() == output_stream::std_err);
  piece = co_await running.next();
  CHECK(!piece);
  CHECK(running.streams_open());
  CHECK(running.denied()->kind == denied_kind::write);
  const exit_status end = co_await running.wait();
  CHECK(end.code() == 1);
  CHECK(here.backend->last().denied_asked == 1);
  co_await here.place.destroy(where);
}

ASYNC_TEST("denied: a background command has the line in its log") {
  denying here(io);
  here.behave = complain;
  const handle where = co_await here.place.spawn();
  background behind = co_await here.place.exec_background(where, command("x"));
  (void)co_await behind.wait();
  CHECK(behind.tail(output_stream::std_err).bytes() == "read-only\n[isolation] no\n");
  CHECK(behind.tail(output_stream::std_out).bytes() == "out\n");
  CHECK(behind.denied().has_value());
  co_await here.place.destroy(where);
}

ASYNC_TEST("denied: who is cancelled while it is found out gets it from the next call") {
  denying here(io);
  here.behave = [&io](fake_run& run) {
    complain(run);
    run.hold_denied.emplace(io.get_executor());
  };
  const handle where = co_await here.place.spawn();
  process started = co_await here.place.exec_stream(where, command("x"));
  running waiting(io.get_executor(), started.wait());
  const auto asked = [&here] { return here.backend->last().denied_asked == 1; };
  const bool is_asked = co_await becomes_true(asked);
  CHECK(is_asked);
  waiting.cancel();
  const auto ended = [&waiting] { return waiting.ended(); };
  const bool has_ended = co_await becomes_true(ended);
  CHECK(has_ended);
  here.backend->last().hold_denied.reset();
  const auto piece = co_await started.next();
  CHECK(piece->is_hint());
  co_await here.place.destroy(where);
}

ASYNC_TEST("denied: nobody asks where nothing ran") {
  denying here(io);
  here.behave = [](fake_run& run) { run.exit(exit_status::start_failed(127, "no")).end_streams(); };
  const handle where = co_await here.place.spawn();
  const exec_result got = co_await here.place.exec(where, command("x"));
  CHECK(!got.denied);
  CHECK(here.backend->last().denied_asked == 0);
  co_await here.place.destroy(where);
}

}  // namespace
}  // namespace berth::test
