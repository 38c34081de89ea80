// SPDX-License-Identifier: Apache-2.0
//
// NormalizeFunction: StripSuffixes → one pass over the rest, in which each
// handler below takes what it knows from the front of `rest_`.
#include "report/function_name.h"

#include <cctype>

namespace cairn::report {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
// Marks that compilers put behind the name of a copy or a part of a function.
constexpr std::string_view kCopyMarks[] = {".cold",
                                           ".isra",
                                           ".part",
                                           ".constprop",
                                           ".lto_priv",
                                           ".llvm",
                                           ".localalias",
                                           ".resolver",
                                           ".clone"};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool IsDigits(std::string_view text) {
  for (char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      return false;
    }
  }
  return true;
}

// Cuts one mark such as ".cold.3" from the end.
bool CutCopyMark(std::string_view* name) {
  for (std::string_view mark : kCopyMarks) {
    size_t at = name->rfind(mark);
    if (at == std::string_view::npos || at == 0) {
      continue;
    }
    std::string_view tail = name->substr(at + mark.size());
    if (tail.empty() || (tail[0] == '.' && IsDigits(tail.substr(1)))) {
      *name = name->substr(0, at);
      return true;
    }
  }
  return false;
}

// "foo() [clone .cold]" and "foo() (.cold)".
bool CutBracketedMark(std::string_view* name) {
  size_t at = name->rfind(" [clone ");
  if (at == std::string_view::npos) {
    at = name->ends_with(')') ? name->rfind(" (.") : std::string_view::npos;
  }
  if (at == std::string_view::npos || at == 0) {
    return false;
  }
  *name = name->substr(0, at);
  return true;
}

bool CutRustHash(std::string_view* name) {
  constexpr size_t size = 3 + 16;  // "::h" and 16 hexadecimal digits
  if (name->size() <= size || name->substr(name->size() - size, 3) != "::h") {
    return false;
  }
  for (char c : name->substr(name->size() - 16)) {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
      return false;
    }
  }
  *name = name->substr(0, name->size() - size);
  return true;
}

std::string_view StripSuffixes(std::string_view name) {
  while (CutBracketedMark(&name) || CutCopyMark(&name)) {
  }
  CutRustHash(&name);
  size_t at = name.find('@');  // memcpy@@GLIBC_2.14, puts@plt
  bool is_c = name.find_first_of("([ :") == std::string_view::npos;
  return is_c && at != 0 ? name.substr(0, at) : name;
}

// The length of the bracketed part at the front of `text`; 0: never closed.
size_t Bracketed(std::string_view text, char open, char close) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    bool is_arrow = close == '>' && i > 0 && text[i - 1] == '-';
    if (text[i] == open) {
      ++depth;
    } else if (text[i] == close && !is_arrow && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

class Normalizer {
 public:
  explicit Normalizer(std::string_view name) : rest_(name) {}

  std::string Run() {
    while (!rest_.empty()) {
      if (!Operator() && !Anonymous() && !Lambda() && !Angle() && !Paren() &&
          !AbiTag() && !Space()) {
        Copy(1);
      }
    }
    return out_;
  }

 private:
  void Copy(size_t count) {
    out_.append(rest_.substr(0, count));
    rest_.remove_prefix(count);
  }
  void Replace(size_t count, std::string_view with) {
    out_.append(with);
    rest_.remove_prefix(count);
  }
  bool AfterWord() const { return !out_.empty() && IsWord(out_.back()); }

  bool Operator() {
    constexpr std::string_view word = "operator";
    if (!rest_.starts_with(word) || AfterWord() ||
        (rest_.size() > word.size() && IsWord(rest_[word.size()]))) {
      return false;
    }
    Copy(word.size());
    if (rest_.starts_with("()")) {
      Copy(2);
    } else {
      Copy(std::min(rest_.find('('), rest_.size()));
      // "operator< <int>": its template arguments were copied with it.
      size_t angle = out_.rfind(" <");
      if (angle != std::string::npos && out_.back() == '>') {
        out_.replace(angle, std::string::npos, " <T>");
      }
    }
    return true;
  }

  bool Anonymous() {
    for (std::string_view spelling : {kAnonymous,
                                      std::string_view("`anonymous namespace'"),
                                      std::string_view("{anonymous}"),
                                      std::string_view("_GLOBAL__N_1")}) {
      if (rest_.starts_with(spelling)) {
        Replace(spelling.size(), kAnonymous);
        return true;
      }
    }
    return false;
  }

  bool Lambda() {
    size_t size = 0;
    if (rest_.starts_with("{lambda")) {
      size = Bracketed(rest_, '{', '}');
    } else if (rest_.starts_with("'lambda")) {
      size = rest_.find('\'', 1);
      size = size == std::string_view::npos ? 0 : size + 1;
      if (size != 0 && rest_.substr(size).starts_with("(")) {
        size += Bracketed(rest_.substr(size), '(', ')');
      }
    } else if (rest_.starts_with("$_")) {
      size = rest_.find_first_not_of("0123456789", 2);
      size = std::min(size, rest_.size());
    }
    if (size != 0) {
      Replace(size, "{lambda}");
    } else if (rest_.starts_with("{closure#")) {
      size = Bracketed(rest_, '{', '}');
      Replace(std::max<size_t>(size, 1), "{closure}");
    }
    return size != 0;
  }

  // Template arguments; Rust's "<A as B>::c" is kept as it is.
  bool Angle() {
    if (rest_[0] != '<') {
      return false;
    }
    size_t size = Bracketed(rest_, '<', '>');
    if (size == 0) {
      Copy(rest_.size());
    } else if (AfterWord() || (!out_.empty() && out_.back() == '}')) {
      Replace(size, "<T>");
    } else {
      Copy(size);
    }
    return true;
  }

  // An argument list, with what follows it up to the next "::".
  bool Paren() {
    if (rest_[0] != '(') {
      return false;
    }
    size_t size = Bracketed(rest_, '(', ')');
    if (size == 0) {
      Copy(rest_.size());
      return true;
    }
    rest_.remove_prefix(size);
    rest_.remove_prefix(std::min(rest_.find("::"), rest_.size()));
    return true;
  }

  bool AbiTag() {
    if (!rest_.starts_with("[abi:")) {
      return false;
    }
    rest_.remove_prefix(std::max<size_t>(Bracketed(rest_, '[', ']'), 1));
    return true;
  }

  // What stood before a space was a return type.
  bool Space() {
    if (rest_[0] != ' ') {
      return false;
    }
    rest_.remove_prefix(1);
    if (!rest_.empty()) {
      out_.clear();
    }
    return true;
  }

  std::string_view rest_;
  std::string out_;
};

}  // namespace

std::string NormalizeFunction(std::string_view name) {
  name = name.substr(0, kMaxFunctionNameBytes);
  std::string_view stripped = StripSuffixes(name);
  bool is_objective_c =
      stripped.starts_with("-[") || stripped.starts_with("+[");
  std::string result =
      is_objective_c ? std::string(stripped) : Normalizer(stripped).Run();
  return result.empty() ? std::string(name) : result;
}

}  // namespace cairn::report
