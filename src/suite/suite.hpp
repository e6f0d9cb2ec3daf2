#pragma once
/// What `berth bench` measures: one function per question, each in a file of its name.

#include "suite/docker_site.hpp"
#include "suite/peer.hpp"

#include <berth/bench.hpp>

#include <asio/io_context.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace berth::suite {

using subjects = std::vector<bench::subject>;

subjects exec_suite(asio::io_context& io);
subjects loop_suite(asio::io_context& io);
subjects stream_suite(asio::io_context& io);
subjects pty_suite(asio::io_context& io);
subjects memory_suite(asio::io_context& io);
subjects kill_suite(asio::io_context& io);
subjects file_suite(asio::io_context& io);
subjects isolated_suite(asio::io_context& io);

/// All of these, and those of containers. Life: they use the io_context.
subjects whole_suite(asio::io_context& io, const shared_site& site);

/// Is it one of those that can only be measured where a sandbox can be made?
bool needs_sandbox(const bench::subject& what);
/// Makes one. Gives the reason in a line where that cannot be done, else nothing.
task<std::string> why_no_sandbox(asio::io_context& io);

/// Adds what these do of it: rows of their own beside ours, which gets them as bases. Throws errc::invalid_argument for a bench that
/// is none for peers.
void add_peers(subjects& all, const std::vector<shared_peer>& peers, const shared_site& site = nullptr);

/// What the row of a peer is called, and that of ours which it stands beside; both empty for a bench that is none for peers.
struct peer_row {
  std::string name;
  std::string ours;
};
peer_row row_of(const std::string& bench, const std::string& peer);

// How much is in a sample, of ours and of the peers.
inline constexpr int execs_at_once = 64;
inline constexpr std::size_t stream_total = std::size_t{1} << 30;
inline constexpr std::size_t container_stream = std::size_t{64} << 20;
inline constexpr int keys_in_sample = 20;

/// `berth bench --worker WHAT...` is the other side of a bench: it is no option for people.
inline constexpr std::string_view worker_word = "--worker";

/// Gives the exit code.
task<int> work(asio::io_context& io, std::vector<std::string> what);

/// The words that start a worker.
std::vector<std::string> worker_words(std::string what, std::string argument = {});

/// The words of a program that writes zeros, and that every image has.
std::vector<std::string> zeros_words(std::size_t bytes);

}  // namespace berth::suite
