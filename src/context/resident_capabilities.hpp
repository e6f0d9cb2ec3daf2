#pragma once
/// What a place can in which a resident starts the commands.

#include "berth/backend.hpp"

namespace berth {

inline capabilities resident_capabilities() noexcept {
  capabilities all;
  all.kills_tree = true;
  all.separate_stderr = true;
  all.stdin_stream = true;
  all.signals = true;
  all.reports_usage = true;
  all.terminals = true;
  all.limits = true;
  all.lists_ports = true;
  all.files = true;
  all.watches_files = true;
  return all;
}

}  // namespace berth
