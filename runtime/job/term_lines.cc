// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/term_lines.h"

#include <sstream>
#include <string_view>

namespace mxc::job {
namespace {

constexpr std::string_view kProposes = "mxc-proposal 1 ", kIs = "mxc-term 1 ";

// Numbers and nothing else behind the mark.
template <class... Numbers>
bool ReadNumbers(const std::string& line, std::string_view mark,
                 Numbers&... numbers) {
  if (!line.starts_with(mark)) return false;
  std::istringstream words(line.substr(mark.size()));
  std::string rest;
  return static_cast<bool>((words >> ... >> numbers)) && !(words >> rest);
}

}  // namespace

std::string EncodeProposal(const kvstore::Proposal& proposal) {
  std::ostringstream line;
  line << kProposes << proposal.birth << ' ' << proposal.after << ' '
       << proposal.primary << ' ' << proposal.backup;
  return line.str();
}

std::optional<kvstore::Proposal> DecodeProposal(const std::string& line) {
  kvstore::Proposal proposal;
  const bool fits = ReadNumbers(line, kProposes, proposal.birth, proposal.after,
                                proposal.primary, proposal.backup);
  return fits ? std::optional(proposal) : std::nullopt;
}

std::string EncodeTerm(const kvstore::Term& term) {
  std::ostringstream line;
  line << kIs << term.number << ' ' << term.primary << ' ' << term.backup
       << '\n';
  return line.str();
}

std::optional<kvstore::Term> DecodeTerm(const std::string& line) {
  kvstore::Term term;
  const bool fits =
      ReadNumbers(line, kIs, term.number, term.primary, term.backup);
  return fits ? std::optional(term) : std::nullopt;
}

}  // namespace mxc::job
