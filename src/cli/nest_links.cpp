// Links between a loop tree and code, by the names that both print.
//
// A loop is known by its Func and its variable. Lowered statements name the Func in a comment behind the
// loop, CUDA C in the line before it; what partitioning and partial vectors add to a variable's name is taken
// off again. A definition is known by the buffer that it stores to.
#include "cli/nest_links.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace calotype::cli {
namespace {

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

/// The name at the beginning of a text.
std::string leading_name(const std::string& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_name_letter);
  return {text.begin(), end};
}

/// As CUDA C spells a name.
std::string plain(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

std::vector<std::pair<int, std::string>> indented_lines(const std::string& text) {
  std::vector<std::pair<int, std::string>> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos)
      lines.emplace_back(0, "");
    else
      lines.emplace_back(static_cast<int>(first), line.substr(first));
  }
  return lines;
}

bool is_definition(const std::string& text) {
  for (const char* word : {"let ", "if ", "where ", "barrier"})
    if (starts_with(text, word)) return false;
  return text.find(") = ") != std::string::npos;
}

NestLine read_line(int depth, const std::string& text) {
  NestLine line{.depth = depth, .text = text};
  if (starts_with(text, "produce ")) {
    line.kind = NestLine::Kind::Produce;
    line.func = text.substr(8, text.size() - 9);
  } else if (starts_with(text, "realize ")) {
    line.kind = NestLine::Kind::Realize;
  } else if (starts_with(text, "for ")) {
    line.kind = NestLine::Kind::Loop;
    line.name = leading_name(text.substr(4));
  } else if (is_definition(text)) {
    line.kind = NestLine::Kind::Body;
  }
  return line;
}

/// Storage names its Func before its type; the Func is one that is produced.
void name_storage(std::vector<NestLine>& nest) {
  for (NestLine& line : nest) {
    if (line.kind != NestLine::Kind::Realize) continue;
    line.func.clear();
    for (const NestLine& produce : nest)
      if (produce.kind == NestLine::Kind::Produce && produce.func.size() > line.func.size() &&
          starts_with(line.text, "realize " + produce.func + " "))
        line.func = produce.func;
  }
}

/// What stands before an ending, or all of it.
std::string before(const std::string& text, const std::string& ending) {
  return text.substr(0, text.find(ending));
}

/// Finds lines of a nest by the names in code.
class Linker {
 public:
  explicit Linker(const std::vector<NestLine>& nest) : nest_(nest) {
    for (std::size_t i = 0; i < nest.size(); ++i) {
      const NestLine& line = nest[i];
      const int index = static_cast<int>(i);
      if (line.kind == NestLine::Kind::Loop) loops_[{plain(line.func), plain(line.name)}].push_back(index);
      if (line.kind == NestLine::Kind::Body) bodies_[plain(line.func)].push_back(index);
      if (line.kind == NestLine::Kind::Realize || line.kind == NestLine::Kind::Produce)
        places_[plain(line.func)].push_back(index);
    }
  }

  std::vector<CodeLine> run(const std::string& code) {
    assembly_ = code.find("\n\t.") != std::string::npos || starts_with(code, "\t.");
    for (const auto& [depth, text] : indented_lines(code)) {
      while (!open_.empty() && open_.back().depth >= depth && !(text == "}" && open_.back().depth == depth))
        open_.pop_back();
      std::vector<int> from;
      for (const Open& o : open_) from.insert(from.end(), o.from.begin(), o.from.end());
      const std::vector<int> own = links_of(text, depth);
      from.insert(from.end(), own.begin(), own.end());
      lines_.push_back({std::string(depth, ' ') + text, from});
      comment_ = starts_with(text, "// ") ? text.substr(3) : "";
    }
    lend_lines();
    return std::move(lines_);
  }

 private:
  struct Open {
    int depth;
    std::vector<int> from;
  };

  std::vector<int> links_of(const std::string& text, int depth) {
    if (starts_with(text, "for ")) {
      const bool c = starts_with(text, "for (");
      const std::size_t behind = text.rfind("// ");
      const std::string comment = c ? comment_ : behind == std::string::npos ? "" : text.substr(behind + 3);
      std::string variable = c ? text.substr(5) : text.substr(4);
      if (c) variable = variable.substr(std::min(variable.size(), variable.find(' ') + 1));
      const std::vector<int> loop = loops_of(before(comment, ": "), leading_name(variable));
      open_.push_back({depth, loop});
      return loop;
    }
    if (assembly_) return text.empty() || text.back() != ':' ? std::vector<int>{} : label(text);
    if (starts_with(text, "// produce ")) return find(places_, before(text.substr(11), ": "));
    if (starts_with(text, "allocate ")) return find(places_, before(text.substr(9), ": "));
    const std::size_t bracket = text.find('[');
    return bracket == std::string::npos ? std::vector<int>{} : find(bodies_, text.substr(0, bracket));
  }

  /// The function that runs a parallel loop: PIPELINE.LOOP, or PIPELINE.LOOP.LOOP. Its instructions follow.
  std::vector<int> label(const std::string& text) {
    if (text.front() == '.') return {};
    open_.clear();
    std::vector<int> from;
    const std::string name = text.substr(0, text.size() - 1);
    for (const auto& [key, lines] : loops_)
      for (std::size_t at = 0; at != std::string::npos; at = name.find('.', at + 1)) {
        const std::string tail = at == 0 ? name : name.substr(at + 1);
        if (at != 0 && plain(tail) == key.second && is_parallel(lines))
          from.insert(from.end(), lines.begin(), lines.end());
      }
    open_.push_back({-1, from});
    return from;
  }

  bool is_parallel(const std::vector<int>& lines) const {
    return nest_[lines.front()].text.find(") parallel") != std::string::npos;
  }

  using ByName = std::map<std::string, std::vector<int>>;

  /// A buffer is named like its Func; of a Func with several values like one of them.
  static std::vector<int> find(const ByName& lines, const std::string& name) {
    const std::string key = plain(name);
    auto at = lines.find(key);
    if (at == lines.end()) {
      const std::size_t dot = key.find_last_not_of("0123456789");
      if (dot == std::string::npos || dot + 1 == key.size() || key[dot] != '_') return {};
      at = lines.find(key.substr(0, dot));
    }
    return at == lines.end() ? std::vector<int>{} : at->second;
  }

  std::vector<int> loops_of(const std::string& func, const std::string& variable) const {
    for (std::string name = variable; !name.empty();) {
      const auto at = loops_.find({plain(func), plain(name)});
      if (at != loops_.end()) return at->second;
      const std::size_t dot = name.find_last_of("._");
      if (dot == std::string::npos) break;
      name.resize(dot);
    }
    return {};
  }

  /// Loops that left no line: all lines of what stands inside them.
  void lend_lines() {
    std::set<int> seen;
    for (const CodeLine& line : lines_) seen.insert(line.from.begin(), line.from.end());
    std::map<int, std::vector<int>> lenders;  // by line of the nest: those that lend to it
    for (std::size_t i = 0; i < nest_.size(); ++i) {
      if (nest_[i].kind != NestLine::Kind::Body) continue;
      for (int p = nest_[i].parent; p >= 0; p = nest_[p].parent)
        if (nest_[p].kind == NestLine::Kind::Loop && nest_[p].func == nest_[i].func && !seen.count(p))
          lenders[static_cast<int>(i)].push_back(p);
    }
    for (CodeLine& line : lines_) {
      std::vector<int> more;
      for (const int from : line.from)
        if (const auto at = lenders.find(from); at != lenders.end())
          more.insert(more.end(), at->second.begin(), at->second.end());
      line.from.insert(line.from.end(), more.begin(), more.end());
    }
  }

  const std::vector<NestLine>& nest_;
  std::map<std::pair<std::string, std::string>, std::vector<int>> loops_;
  ByName bodies_, places_;
  std::vector<Open> open_;
  std::vector<CodeLine> lines_;
  std::string comment_;
  bool assembly_ = false;
};

}  // namespace

std::vector<NestLine> read_nest(const std::string& text) {
  std::vector<NestLine> nest;
  std::vector<int> open;
  for (const auto& [depth, line] : indented_lines(text)) {
    while (!open.empty() && nest[open.back()].depth >= depth) open.pop_back();
    nest.push_back(read_line(depth, line));
    NestLine& added = nest.back();
    added.parent = open.empty() ? -1 : open.back();
    for (int p = added.parent; p >= 0 && added.func.empty(); p = nest[p].parent)
      if (nest[p].kind == NestLine::Kind::Produce) added.func = nest[p].func;
    open.push_back(static_cast<int>(nest.size()) - 1);
  }
  name_storage(nest);
  return nest;
}

std::vector<CodeLine> link_code(const std::string& code, const std::vector<NestLine>& nest) {
  return Linker(nest).run(code);
}

}  // namespace calotype::cli
