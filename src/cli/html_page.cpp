// The page of `show --html`. All of it is text that other levels print, linked line by line; style and script
// stand in the page itself.
#include "cli/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "cli/html_assets.h"
#include "cli/nest_links.h"

namespace calotype::cli {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// A line with its comment, behind the mark, set apart.
std::string with_comment(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return escaped(text);
  return escaped(text.substr(0, at)) + "<i>" + escaped(text.substr(at)) + "</i>";
}

const char* kind_class(NestLine::Kind kind) {
  switch (kind) {
    case NestLine::Kind::Produce:
      return "produce";
    case NestLine::Kind::Realize:
      return "realize";
    case NestLine::Kind::Loop:
      return "loop";
    case NestLine::Kind::Body:
      return "body";
    case NestLine::Kind::Other:
      return "other";
  }
  return "";
}

bool has_children(const std::vector<NestLine>& nest, std::size_t i) {
  return i + 1 < nest.size() && nest[i + 1].parent == static_cast<int>(i);
}

/// The tree as nested blocks, so that each can be folded.
std::string tree_html(const std::vector<NestLine>& nest) {
  std::string html;
  std::vector<int> open;  // blocks of children
  for (std::size_t i = 0; i < nest.size(); ++i) {
    for (; !open.empty() && open.back() != nest[i].parent; open.pop_back()) html += "</div>";
    const bool folds = has_children(nest, i);
    // What is said of a loop stands for it.
    const bool of_loop = nest[i].kind == NestLine::Kind::Other && nest[i].parent >= 0;
    html += fmt::format("<div class=\"t {}\" data-n=\"{}\"><b>{}</b><span>{}</span></div>\n",
                        kind_class(nest[i].kind), of_loop ? nest[i].parent : static_cast<int>(i),
                        folds ? "&#9662;" : "", with_comment(nest[i].text, "  # "));
    if (!folds) continue;
    html += "<div class=\"in\">";
    open.push_back(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < open.size(); ++i) html += "</div>";
  return html;
}

std::string code_html(const std::vector<CodeLine>& lines) {
  std::string html;
  for (const CodeLine& line : lines) {
    std::set<int> from(line.from.begin(), line.from.end());
    // The innermost first: what a pointer at the line means.
    std::string ids = line.from.empty() ? "" : std::to_string(line.from.back());
    if (!line.from.empty()) from.erase(line.from.back());
    for (const int id : from) ids += " " + std::to_string(id);
    html += fmt::format("<div class=\"c\"{}>{}</div>\n", ids.empty() ? "" : " data-f=\"" + ids + "\"",
                        line.text.empty() ? " " : with_comment(line.text, "// "));
  }
  return html;
}

/// "root", or the loop that a line stands in, as "sharp.xo".
std::string site(const std::vector<NestLine>& nest, int line) {
  for (int p = nest[line].parent; p >= 0; p = nest[p].parent)
    if (nest[p].kind == NestLine::Kind::Loop) return nest[p].func + "." + nest[p].name;
  return "root";
}

/// What the names of a region stand for: lets around its line, that it names itself or through others.
std::string named_bounds(const std::vector<NestLine>& nest, int line) {
  std::string region = nest[line].text, text;
  for (int i = line - 1; i >= 0; --i) {
    const std::string& let = nest[i].text;
    if (nest[i].parent != nest[line].parent && nest[i].depth > nest[line].depth) continue;
    if (let.rfind("let ", 0) != 0) continue;
    const std::string name = let.substr(4, let.find(" = ") - 4);
    if (region.find(name) == std::string::npos) continue;
    region += let;
    text = let.substr(4) + (text.empty() ? "" : "\n") + text;
  }
  return text;
}

struct StageRow {
  std::string func, computed, stored, region, names;
  int line;
};

std::vector<StageRow> stage_rows(const std::vector<NestLine>& nest) {
  std::vector<StageRow> rows;
  for (std::size_t i = 0; i < nest.size(); ++i) {
    if (nest[i].kind != NestLine::Kind::Produce) continue;
    const int line = static_cast<int>(i);
    StageRow row{nest[i].func, site(nest, line), "the caller's buffer", "all of the output", "", line};
    for (std::size_t r = 0; r < nest.size(); ++r) {
      if (nest[r].kind != NestLine::Kind::Realize || nest[r].func != nest[i].func) continue;
      const std::string& text = nest[r].text;
      const std::size_t over = text.find(" over "), in = text.rfind(" in ");
      const std::string space = in == std::string::npos ? "" : text.substr(in + 4, text.size() - in - 5);
      row.stored = space + ", at " + site(nest, static_cast<int>(r));
      row.region = over == std::string::npos ? "" : text.substr(over + 6, in - over - 6);
      row.names = named_bounds(nest, static_cast<int>(r));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string stages_html(const std::vector<NestLine>& nest) {
  std::string html =
      "<table><thead><tr><th>stage</th><th>computed at</th><th>stored in</th><th>required "
      "region</th></tr></thead>";
  for (const StageRow& row : stage_rows(nest)) {
    const std::string names =
        row.names.empty() ? "" : "<div class=\"names\">" + escaped(row.names) + "</div>";
    html += fmt::format(
        "<tr data-n=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code>{}</td></tr>\n", row.line,
        escaped(row.func), escaped(row.computed), escaped(row.stored), escaped(row.region), names);
  }
  return html + "</table>";
}

std::string plain_html(const std::string& text) { return "<pre>" + escaped(text) + "</pre>"; }

/// Tabs over panels, the first of which is open.
std::string panels_html(const std::string& id,
                        const std::vector<std::pair<std::string, std::string>>& panels) {
  std::string tabs, bodies;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    tabs += fmt::format("<button class=\"tab{}\" data-panel=\"{}{}\">{}</button>", i == 0 ? " open" : "", id,
                        i, escaped(panels[i].first));
    bodies += fmt::format("<div class=\"panel{}\" id=\"{}{}\">{}</div>\n", i == 0 ? " open" : "", id, i,
                          panels[i].second);
  }
  return fmt::format("<section id=\"{}\"><nav>{}</nav>{}</section>\n", id, tabs, bodies);
}

}  // namespace

std::string html_page(const PageContents& contents) {
  const std::vector<NestLine> nest = read_nest(contents.loops);
  std::string facts;
  for (const auto& [name, value] : contents.facts)
    facts += fmt::format("<span><u>{}</u> {}</span>", escaped(name), escaped(value));
  std::vector<std::pair<std::string, std::string>> codes;
  for (const auto& [name, text] : contents.codes) codes.emplace_back(name, code_html(link_code(text, nest)));
  const std::string left = panels_html("nest", {{"Loops", tree_html(nest)},
                                                {"Storage and regions", stages_html(nest)},
                                                {"Schedule", plain_html(contents.schedule)}});
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{0}</title>\n<style>\n{1}</style></head>\n"
      "<body><header><h1>{0}</h1>{2}<span class=\"tools\"><input id=\"find\" type=\"search\" "
      "placeholder=\"find a Func or loop\" aria-label=\"find a Func or loop\">"
      "<label><input id=\"wrap\" type=\"checkbox\"> wrap lines</label>"
      "<button id=\"theme\">dark / light</button></span></header>\n<main>{3}<div "
      "id=\"grip\"></div>{4}</main>\n"
      "<script>\n{5}</script></body></html>\n",
      escaped(contents.title), kPageStyle, facts, left, panels_html("code", codes), kPageScript);
}

}  // namespace calotype::cli
