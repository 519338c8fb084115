// Where code comes from: the stages, directives and loops around an instruction, and what a second run of a
// launch tells of the accesses that others conflicted with.

#include <algorithm>
#include <cstring>

#include "sim/machine.h"

namespace calotype::sim {

std::string Code::stage_of(int scope) const {
  for (; scope >= 0; scope = scopes[static_cast<std::size_t>(scope)].outer)
    if (const Scope& s = scopes[static_cast<std::size_t>(scope)]; !s.stage.empty()) return s.stage;
  return {};
}

std::string Code::origin_of(int scope) const {
  std::string innermost;
  for (; scope >= 0; scope = scopes[static_cast<std::size_t>(scope)].outer) {
    const Scope& s = scopes[static_cast<std::size_t>(scope)];
    if (s.origin.empty()) continue;
    if (s.loop.empty()) return s.origin;
    if (innermost.empty()) innermost = s.origin;
  }
  return innermost;
}

ThreadAccess Machine::access_of(const Warp& warp, int lane, const Instruction& i, const std::string& verb,
                                const std::string& text) const {
  ThreadAccess access{.verb = verb,
                      .text = text,
                      .stage = code.stage_of(i.scope),
                      .directive = code.origin_of(i.scope),
                      .block = block,
                      .thread = coordinates(thread(warp, lane))};
  for (int at = i.scope; at >= 0; at = code.scopes[static_cast<std::size_t>(at)].outer) {
    const Scope& s = code.scopes[static_cast<std::size_t>(at)];
    if (s.loop.empty()) continue;
    access.loops.emplace_back(s.loop, warp.read(s.variable)[s.variable.uniform ? 0 : lane].i);
  }
  std::reverse(access.loops.begin(), access.loops.end());
  return access;
}

void Machine::watch_for(const std::vector<Suspect>& suspects) {
  for (const Suspect& s : suspects) watched_.push_back({s, {}, false});
}

void Machine::note_access(const Region& region, std::int64_t offset, std::int64_t bytes,
                          const WarpAccess& access, int lane, const char* verb, bool starts) {
  for (Watched& w : watched_) {
    const Suspect& s = w.suspect;
    if (w.settled || s.region != region.number || s.offset < offset || s.offset >= offset + bytes) continue;
    // What a copy has written it has started in some interval before.
    if (s.thread != thread(access.warp, lane) || (!starts && s.interval != clock.now)) continue;
    w.access = access_of(access.warp, lane, access.instruction, verb, access.text());
  }
}

void Machine::settle_watched(Fault fault, int place) {
  for (Watched& w : watched_)
    if (w.suspect.fault == fault && w.suspect.place == place) w.settled = true;
}

void Machine::tell_suspects(std::vector<Finding>& of) const {
  for (const Watched& w : watched_)
    if (!w.access.verb.empty()) of[w.suspect.finding].accesses.push_back(w.access);
}

}  // namespace calotype::sim
