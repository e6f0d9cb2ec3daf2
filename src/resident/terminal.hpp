#pragma once
/// Pseudoterminals: the master for the owner, the slave for the command.

#include "wire/messages.hpp"

namespace berth::resident {

/// Opens one of that size; neither end is blocking or anybody's controlling terminal yet. On failure nothing stays open.
bool open_terminal(const wire::resize& size, int& master, int& slave);
void resize_terminal(int master, const wire::resize& size);
/// Types the end-of-file character, if the line has one. False where there is no room for it now.
bool type_end(int master);

}  // namespace berth::resident
