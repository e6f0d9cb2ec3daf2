// Takes a small tree into a place, runs something there, edits a file with care, and brings the result back.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace fs = std::filesystem;

void make_project(const fs::path& at) {
  fs::create_directories(at / "src");
  std::ofstream(at / "src/greet.sh") << "echo hello from $1\n";
  std::ofstream(at / "src/greet.log") << "not to be carried\n";
}

berth::task<void> build(berth::context place, fs::path here) {
  auto there = co_await place.spawn(berth::spawn_options().cwd(here / "place"));

  auto up = co_await place.upload(there, here / "project", "work", berth::transfer_options().exclude("*.log"));
  std::cout << "up: " << up.entries() << " entries\n";

  // Only if it is still what was read: whoever changed it meanwhile wins, and this throws errc::conflict.
  auto script = co_await place.read_file(there, "work/src/greet.sh");
  auto as_read = berth::write_options().expect_hash(berth::content_hash(script));
  co_await place.write_file(there, "work/src/greet.sh", script + "echo bye\n", as_read);

  auto result = co_await place.exec(there, "sh work/src/greet.sh berth > work/out.txt");
  std::cout << berth::describe(result.status) << '\n';

  auto entries = co_await place.list_files(there, "work", berth::list_options().recursive());
  for (const auto& each : entries) std::cout << to_string(each.type()) << ' ' << each.path() << '\n';

  co_await place.download(there, "work/out.txt", here / "out.txt");
  std::cout << std::ifstream(here / "out.txt").rdbuf();
  co_await place.destroy(there);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  std::string name = fs::temp_directory_path() / "berth-example-XXXXXX";
  const fs::path here = ::mkdtemp(name.data());
  make_project(here / "project");
  asio::io_context io(1);
  asio::co_spawn(io, build(berth::make_process_context(io), here), rethrow);
  io.run();
  fs::remove_all(here);
}
