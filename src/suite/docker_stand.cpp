#include "suite/docker_stand.hpp"

#include "docker/attach_frames.hpp"
#include "docker/container.hpp"
#include "docker/daemon_connect.hpp"
#include "docker/docker_backend.hpp"
#include "suite/suite.hpp"

#include <berth/error.hpp>

#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace berth::suite {
namespace {

/// Images that have what the benches run, the one with the smallest programs first.
constexpr const char* families[] = {"busybox", "alpine", "debian", "ubuntu"};

bool is_of_family(const std::string& tag, const std::string& family) {
  const std::string last = tag.substr(tag.rfind('/') + 1);
  return last.substr(0, last.find(':')) == family;
}

std::string tag_of_family(const json& images, const std::string& family) {
  for (const json& image : images.as_array()) {
    if (!image["RepoTags"].is_array()) continue;
    for (const json& tag : image["RepoTags"].as_array()) {
      if (is_of_family(tag.as_string(), family)) return tag.as_string();
    }
  }
  return "";
}

std::string path_in(const shared_stand& stand, const std::string& what) {
  return "/containers/" + stand->site->container + what;
}

/// Reads the streams of a command to their end; the bytes of its standard output.
task<std::size_t> read_frames(http::stream_ptr stream) {
  constexpr std::size_t piece_size = std::size_t{256} << 10;
  std::string buffer(piece_size, '\0');
  attach_frames frames;
  std::size_t seen = 0;
  for (;;) {
    const std::size_t size = co_await stream->read(buffer);
    if (size == 0) break;
    std::string_view bytes = std::string_view(buffer).substr(0, size);
    while (const auto piece = frames.next(bytes)) {
      if (piece->from == attach_frames::stream::out) seen += piece->bytes.size();
    }
  }
  co_return seen;
}

/// One command by the Engine's own exec; the bytes of its standard output.
task<std::size_t> run_by_engine(shared_stand stand, std::vector<std::string> argv) {
  json_array words;
  for (std::string& word : argv) words.emplace_back(std::move(word));
  json what = json_object{{"Cmd", std::move(words)}, {"AttachStdout", true}, {"AttachStderr", true}};
  const auto engine = stand->engine;
  const json made = co_await engine->ask("POST", path_in(stand, "/exec"), std::move(what));
  const std::string id = made.at("Id").as_string();
  json how = json_object{{"Detach", false}, {"Tty", false}};
  const http::stream_ptr stream = co_await engine->hijack("/exec/" + id + "/start", std::move(how));
  const std::size_t seen = co_await read_frames(stream);
  stream->close();
  const json end = co_await engine->ask("GET", "/exec/" + id + "/json");
  if (end["ExitCode"].if_int() != 0) throw std::runtime_error("the Engine's exec did not end with 0");
  co_return seen;
}

}  // namespace

docker_stand::docker_stand(asio::io_context& its_io, shared_site its_site) : io(its_io), site(std::move(its_site)) {
  warm = container_place(io, site, kind_of_container::shared);
}

task<std::shared_ptr<docker_engine>> connect_engine(asio::io_context& io) {
  return connect_daemon(io.get_executor(), daemon_choice());
}

task<std::string> find_bench_image(std::shared_ptr<docker_engine> engine, std::string wished) {
  if (!wished.empty()) {
    const auto found = co_await find_image(engine, wished);
    if (!found) throw error(make_error_code(errc::not_found), "the daemon has no image " + wished);
    co_return wished;
  }
  const json images = co_await engine->ask("GET", "/images/json");
  for (const char* const family : families) {
    std::string tag = tag_of_family(images, family);
    if (!tag.empty()) co_return tag;
  }
  throw error(make_error_code(errc::not_found),
              "the daemon has no image busybox, alpine, debian or ubuntu, and none is pulled for this; --docker-image "
              "takes another that it has");
}

shared_place container_place(asio::io_context& io, shared_site site, kind_of_container kind) {
  auto make = [&io, site, kind] {
    docker_context_options options;
    options.image = site->image;
    options.cwd = container_files;
    options.pull = pull_policy::never;
    if (kind == kind_of_container::shared) {
      // A daemon may still hold the name of one that is gone.
      site->container = "berth-bench-" + std::to_string(::getpid()) + "-" + std::to_string(++site->opened);
      options.name = site->container;
    }
    const bool try_socket = kind != kind_of_container::framed;
    return context(io.get_executor(), make_docker_backend(io.get_executor(), std::move(options), try_socket));
  };
  return std::make_shared<warm_place>(io, std::move(make));
}

task<void> open_stand(shared_stand stand) {
  if (!stand->engine) stand->engine = co_await connect_engine(stand->io);
  co_await open_place(stand->warm);
}

task<void> close_stand(shared_stand stand) {
  stand->engine.reset();
  co_await close_place(stand->warm);
}

task<double> engine_exec(shared_stand stand) {
  std::vector<std::string> words{"/bin/true"};
  const bench::stopwatch watch;
  (void)co_await run_by_engine(std::move(stand), std::move(words));
  co_return watch.micros();
}

task<double> engine_stream_rate(shared_stand stand, std::size_t bytes) {
  auto words = zeros_words(bytes);
  const bench::stopwatch watch;
  const std::size_t seen = co_await run_by_engine(std::move(stand), std::move(words));
  const double micros = watch.micros();
  if (seen != bytes) throw std::runtime_error("only " + std::to_string(seen) + " came");
  co_return static_cast<double>(bytes) / micros;
}

task<double> archive_put(shared_stand stand, std::string name, std::size_t bytes) {
  const container box(stand->engine, stand->site->container);
  std::string content(bytes, 'x');
  const bench::stopwatch watch;
  std::string tar = tar_of_file(name, content, 0644);
  co_await box.upload(container_files, std::move(tar));
  co_return watch.micros();
}

task<double> archive_get(shared_stand stand, std::string name, std::size_t bytes) {
  http::query_builder query;
  query.add("path", std::string(container_files) + "/" + name);
  const auto engine = stand->engine;
  const std::string path = query.behind(path_in(stand, "/archive"));
  const bench::stopwatch watch;
  http::request get = engine->make_request("GET", path);
  const auto reply = co_await engine->open(std::move(get));
  std::size_t seen = 0;
  for (;;) {
    const std::string piece = co_await reply->next();
    if (piece.empty()) break;
    seen += piece.size();
  }
  const double micros = watch.micros();
  if (seen < bytes) throw std::runtime_error("only " + std::to_string(seen) + " came");
  co_return micros;
}

}  // namespace berth::suite
