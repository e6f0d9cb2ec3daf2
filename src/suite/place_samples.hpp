#pragma once
/// What is asked of every kind of place alike: one sample each.

#include "suite/warm_place.hpp"

namespace berth::suite {

/// Microseconds of one exec of /bin/true.
task<double> one_exec(shared_place warm);
/// Microseconds of that many, all at once.
task<double> execs(shared_place warm, int count);
/// `execs_at_once` of them: execs per second.
task<double> exec_rate(shared_place warm);
/// Microseconds of a new place and its first exec; its end is not counted.
task<double> first_exec(shared_place warm);
/// `stream_total` bytes of a worker, read as they come: MB/s.
task<double> stream_rate(shared_place warm);
/// The same with the standard output of any program.
task<double> output_rate(shared_place warm, command program, std::size_t bytes);

}  // namespace berth::suite
