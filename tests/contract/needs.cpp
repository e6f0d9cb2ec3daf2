#include "contract/needs.hpp"

namespace berth::contract {
namespace {

struct named_need {
  needs what;
  const char* name;
  /// None: no capability has a word for it, and a kind that lacks it is known to.
  bool capabilities::*said = nullptr;
};

constexpr named_need every_need[] = {
    {needs::kills_tree, "kills_tree", &capabilities::kills_tree},
    {needs::signals, "signals", &capabilities::signals},
    {needs::usage, "usage", &capabilities::reports_usage},
    {needs::limits, "limits", &capabilities::limits},
    {needs::lists_ports, "lists_ports", &capabilities::lists_ports},
    {needs::watches, "watches", &capabilities::watches_files},
    {needs::pids, "pids"},
    {needs::ended_by_signal, "ended_by_signal"},
    {needs::kernel_refusals, "kernel_refusals"},
    {needs::default_path, "default_path"},
    {needs::any_bytes, "any_bytes"},
    {needs::leftover_output, "leftover_output"},
    {needs::streamed_files, "streamed_files"},
    {needs::guarded_writes, "guarded_writes"},
    {needs::any_end_key, "any_end_key"},
    {needs::first_size, "first_size"},
    {needs::many_variables, "many_variables"},
    {needs::fast_starts, "fast_starts"},
    {needs::exact_merge, "exact_merge"},
};

}  // namespace

std::string missing_of(needs wanted, const capabilities& can, needs lacks) {
  std::string names;
  for (const named_need& each : every_need) {
    if (!has(wanted, each.what)) continue;
    const bool met = each.said != nullptr ? can.*each.said : !has(lacks, each.what);
    if (!met) names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return names;
}

}  // namespace berth::contract
