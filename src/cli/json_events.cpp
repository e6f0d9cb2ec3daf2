#include "cli/json_events.hpp"

#include "core/json.hpp"

namespace berth::cli {
namespace {

std::string line_of(json_object event) { return json(std::move(event)).dump() + '\n'; }

std::string output_line(output_stream stream, std::string bytes) {
  if (bytes.empty()) return {};
  json_object event{{"type", "output"}, {"stream", stream == output_stream::std_out ? "stdout" : "stderr"}};
  if (is_utf8(bytes))
    event.append("text", std::move(bytes));
  else
    event.append("base64", base64_encode(bytes));
  return line_of(std::move(event));
}

json_array survivor_list(const std::vector<survivor>& survivors) {
  json_array list;
  for (const auto& one : survivors) list.push_back(json_object{{"pid", one.pid}, {"name", one.name}});
  return list;
}

json_array port_list(const std::vector<docker_port>& ports) {
  json_array list;
  for (const auto& one : ports)
    list.push_back(json_object{{"container", one.container}, {"host", one.host}, {"address", one.address}});
  return list;
}

json denied_member(const std::optional<denial>& denied) {
  if (!denied) return nullptr;
  return json_object{{"kind", to_string(denied->kind)}, {"path", to_text(denied->path)}, {"line", denied->line}};
}

}  // namespace

std::string json_events::pull(const pull_progress& now) {
  return line_of({
      {"type", "pull"},
      {"image", to_text(now.image)},
      {"layer", to_text(now.layer)},
      {"status", to_text(now.status)},
      {"done_bytes", now.done},
      {"size_bytes", now.size},
      {"all_done_bytes", now.all_done},
      {"all_size_bytes", now.all_size},
  });
}

std::string json_events::start(std::int64_t pid, const std::vector<docker_port>& chosen_ports) const {
  json_object event{{"type", "start"}, {"pid", pid}};
  if (!chosen_ports.empty()) event.append("ports", port_list(chosen_ports));
  return line_of(std::move(event));
}

std::string json_events::output(const chunk& piece) {
  auto& stream = piece.stream() == output_stream::std_out ? out_ : err_;
  return output_line(piece.stream(), stream.feed(piece.bytes()));
}

std::string json_events::rest() {
  return output_line(output_stream::std_out, out_.finish()) + output_line(output_stream::std_err, err_.finish());
}

std::string json_events::result(const exec_summary& summary) const {
  const auto& status = summary.status;
  return line_of({
      {"type", "result"},
      {"reason", to_string(status.reason())},
      {"exit_code", status.code()},
      {"signal", status.signal()},
      {"limit", to_string(status.limit())},
      {"message", describe(status)},
      {"wall_us", std::int64_t{summary.wall_time.count()}},
      {"user_us", std::int64_t{summary.usage.user_time.count()}},
      {"system_us", std::int64_t{summary.usage.system_time.count()}},
      {"max_rss_bytes", summary.usage.max_rss_bytes},
      {"streams_open", summary.streams_open},
      {"survivors", survivor_list(summary.survivors)},
      {"denied", denied_member(summary.denied)},
      {"bytes", json_object{{"stdout", summary.out_bytes}, {"stderr", summary.err_bytes}}},
  });
}

std::string json_events::failure(int exit_code, std::string_view message) const {
  return line_of({{"type", "result"}, {"reason", "failed"}, {"exit_code", exit_code}, {"message", message}});
}

}  // namespace berth::cli
