// The same bits for the same inputs: on every instruction set, for every number of threads, alignment, length and
// layout, in any floating-point environment of the caller, with every compiler. determinism_hashes.txt holds what the
// bits are; a build made with another compiler is checked against the same file.
//
// A new operator needs one file in subjects/ and its lines in the file of hashes. To write them (all lines are written
// anew; the difference must be exactly what was meant to change):
//   PORTACL_WRITE_DETERMINISM_HASHES=1 BUILD/tests/determinism/determinism --gtest_filter=Hashes.*
// Where PORTACL_DETERMINISM_WHOLE names functions, with commas between them, only those are run in every way; of the others
// every case is run once on each instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "determinism/cases.h"
#include "determinism/described.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/fp_environment.h"
#include "support/numeric_suite.h"
#include "support/tensor_view.h"
#include "support/two_phase.h"

namespace portacl::testing {

std::vector<Subject>& Subjects() {
  static std::vector<Subject> subjects;
  return subjects;
}

namespace {

// What makes the subjects that are described elsewhere, and before which of the others these come.
struct Makes {
  size_t place;
  std::function<std::vector<Subject>()> make;
};
std::vector<Makes>& Described() {
  static std::vector<Makes> described;
  return described;
}

size_t CountSubjects() {
  std::vector<Makes> described = std::exchange(Described(), {});
  std::reverse(described.begin(), described.end());  // so that places stay
  for (const auto& [place, make] : described) {
    const std::vector<Subject> made = make();
    Subjects().insert(Subjects().begin() + static_cast<std::ptrdiff_t>(place), made.begin(), made.end());
  }
  return Subjects().size();
}

// The cases of an operator, kept until those of another one are made.
const std::vector<DeterminismCase>& CasesOf(size_t subject) {
  static std::optional<size_t> made;
  static std::vector<DeterminismCase> cases;
  if (made != subject) cases = MakeCases(Subjects()[subject]);
  made = subject;
  return cases;
}

// How one run differs from a plain one. Nothing of it may change a bit.
struct Variation {
  uint64_t layout_seed = 0;     // other layouts for all operands; 0: dense
  uint64_t alignment_seed = 0;  // other addresses; 0: the end of the data at a guard page
  uint64_t length_seed = 0;     // cut into pieces of random lengths; 0: whole
  const FpMode* fp_mode = nullptr;
};

Layout InputLayout(RandomNumbers& random) {
  // Not the expanded ones: they let several logical elements share one place, which is other data.
  constexpr Layout kLayouts[] = {Layout::kDense,    Layout::kNoStrides, Layout::kDenseOffset,
                                 Layout::kPermuted, Layout::kNegative,  Layout::kStepped,
                                 Layout::kMixed};
  return kLayouts[random.Below(std::ssize(kLayouts))];
}

HostTensor MakeTensor(DtypeNumber dtype, const Shape& shape, RandomNumbers* layouts,
                      RandomNumbers* alignments) {
  RandomNumbers unused(0);
  const Layout layout = layouts != nullptr ? InputLayout(*layouts) : Layout::kDense;
  Placement placement;
  if (alignments != nullptr) {
    placement.misalignment_bytes =
        static_cast<int>(alignments->Below(64));  // odd ones too: any address may be data
  }
  return HostTensor(dtype, MakeView(shape, layout, layouts != nullptr ? *layouts : unused), placement);
}

aclTensor* HandleOf(HostTensor& tensor, int32_t format) {
  aclTensor* const handle = tensor.Handle();
  if (format == ACL_FORMAT_ND) return handle;
  const View& view = tensor.view();
  EXPECT_EQ(aclInitTensor(handle, view.shape.data(), view.shape.size(), AsAclDataType(tensor.dtype()),
                          view.pass_strides ? view.strides.data() : nullptr, view.offset,
                          static_cast<aclFormat>(format), view.storage_dims.data(), view.storage_dims.size(),
                          tensor.buffer().device()),
            0);
  return handle;
}

// Runs the elements [begin, end) of a case (all of them, in the case's own shapes, if it is not cut) and appends the
// output's elements to `bytes`.
void RunPart(const Subject& subject, const DeterminismCase& c, const Variation& variation, bool whole,
             int64_t begin, int64_t end, aclrtStream stream, std::vector<std::byte>& bytes) {
  RandomNumbers layouts(variation.layout_seed + static_cast<uint64_t>(begin));
  RandomNumbers alignments(variation.alignment_seed + static_cast<uint64_t>(begin));
  RandomNumbers* const vary_layout = variation.layout_seed != 0 ? &layouts : nullptr;
  RandomNumbers* const vary_alignment = variation.alignment_seed != 0 ? &alignments : nullptr;
  std::vector<HostTensor> tensors;
  std::vector<aclTensor*> handles;
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    tensors.push_back(MakeTensor(c.input_dtypes[k], whole ? c.input_shapes[k] : Shape{end - begin},
                                 vary_layout, vary_alignment));
    tensors.back().CopyFrom(c.inputs[k].data() + begin * ElementSize(c.input_dtypes[k]));
  }
  tensors.push_back(MakeTensor(c.output_dtype, whole ? c.output_shape : Shape{end - begin},
                               subject.start == Start::kZero ? nullptr : vary_layout, vary_alignment));
  for (int64_t i = 0; subject.start != Start::kAnything && i < tensors.back().size(); ++i) {
    const auto bytes_each = static_cast<size_t>(ElementSize(c.output_dtype));
    std::byte* const to = tensors.back().Element(i);
    if (subject.start == Start::kZero)
      std::memset(to, 0, bytes_each);
    else
      std::memcpy(to, tensors.front().Element(i), bytes_each);
  }
  for (HostTensor& tensor : tensors) handles.push_back(HandleOf(tensor, c.format));
  const CallResult call =
      CallTwoPhase(subject.description.binding, handles, c.attributes, stream, variation.fp_mode);
  ASSERT_TRUE(call.Succeeded()) << c.name << ": " << call.plan << " " << call.run << " " << call.synchronize
                                << " " << call.message;
  const HostTensor& output = tensors.back();
  const auto element = static_cast<size_t>(ElementSize(c.output_dtype));
  const size_t at = bytes.size();
  bytes.resize(at + static_cast<size_t>(output.size()) * element);
  output.CopyTo(bytes.data() + at);
}

// The output's elements in row-major order.
std::vector<std::byte> ResultOf(const Subject& subject, const DeterminismCase& c, const Variation& variation,
                                aclrtStream stream) {
  const int64_t count = NumElements(c.output_shape);
  std::vector<std::byte> bytes;
  if (variation.length_seed == 0) {
    RunPart(subject, c, variation, true, 0, count, stream, bytes);
  } else {
    RandomNumbers lengths(variation.length_seed);
    for (int64_t begin = 0; begin < count;) {
      const int64_t most = lengths.Chance(10) ? 40000 : lengths.Chance(50) ? 700 : 70;
      const int64_t end = std::min(count, begin + lengths.Between(1, most));
      RunPart(subject, c, variation, false, begin, end, stream, bytes);
      if (::testing::Test::HasFatalFailure()) break;
      begin = end;
    }
  }
  return bytes;
}

// ---- the committed file ----

std::string HashText(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

// The variables of a subject's runs.
Variables VariablesOf(const Subject& subject, const char* isa, int threads) {
  Variables variables{{"PORTACL_ISA", isa}, {"PORTACL_NUM_THREADS", std::to_string(threads)}};
  if (subject.soc != nullptr) variables.push_back({"PORTACL_SOC", subject.soc});
  return variables;
}

// Case name -> hash.
std::map<std::string, std::string> ReadHashes() {
  std::map<std::string, std::string> hashes;
  std::ifstream file(PORTACL_DETERMINISM_HASHES);
  EXPECT_TRUE(file.is_open()) << PORTACL_DETERMINISM_HASHES;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    hashes[line.substr(17)] = line.substr(0, 16);
  }
  return hashes;
}

void WriteHashes() {
  std::ofstream file(PORTACL_DETERMINISM_HASHES);
  file << "# What the library's results are, to the bit: FNV-1a of the output of every case of "
          "determinism_test.cc, which\n"
          "# also says how to write this file. Floating-point data is made from whole numbers, so nothing of "
          "it depends on\n"
          "# the machine. A line that changes is a change of results that users see.\n";
  for (size_t subject = 0; subject < Subjects().size(); ++subject) {
    const ScopedEnvironment environment(VariablesOf(Subjects()[subject], "portable", 1));
    for (const DeterminismCase& c : CasesOf(subject)) {
      file << HashText(
                  HashElements(c.output_dtype, ResultOf(Subjects()[subject], c, {}, environment.stream())))
           << " " << c.name << "\n";
    }
  }
  ASSERT_TRUE(file.good());
}

TEST(Hashes, FileListsExactlyTheCases) {
  if (std::getenv("PORTACL_WRITE_DETERMINISM_HASHES") != nullptr) WriteHashes();
  std::map<std::string, std::string> hashes = ReadHashes();
  for (size_t subject = 0; subject < Subjects().size(); ++subject) {
    for (const DeterminismCase& c : CasesOf(subject))
      EXPECT_EQ(hashes.erase(c.name), 1u) << c.name << " has no hash";
  }
  for (const auto& [name, hash] : hashes) ADD_FAILURE() << "there is no case " << name;
}

// Cases of one operator whose results are alike (a single zero, a single NaN) prove little: few may be. Two operators may
// well agree: equal where not unequal, bitwise and logical, of BOOL.
TEST(Hashes, AreTelling) {
  std::set<std::pair<std::string, std::string>> distinct;
  const std::map<std::string, std::string> hashes = ReadHashes();
  for (const auto& [name, hash] : hashes) distinct.emplace(name.substr(0, name.find(' ')), hash);
  EXPECT_GE(distinct.size() * 20, hashes.size() * 19);
  std::vector<std::byte> zeros(8);
  std::vector<std::byte> nans(8, std::byte{0xFF});
  std::vector<std::byte> other_nans = nans;
  other_nans[0] = std::byte{0};
  EXPECT_EQ(HashElements(ACL_FLOAT, nans), HashElements(ACL_FLOAT, other_nans));
  EXPECT_EQ(HashElements(ACL_DOUBLE, nans), HashElements(ACL_DOUBLE, other_nans));
  EXPECT_NE(HashElements(ACL_FLOAT, nans), HashElements(ACL_FLOAT, zeros));
  EXPECT_EQ(HashElements(ACL_FLOAT, {}), 0xCBF29CE484222325u);
  EXPECT_EQ(HashElements(ACL_FLOAT16, {std::byte{'a'}, std::byte{'b'}}), 0x089C4407B545986Au)
      << "FNV-1a of \"ab\"";
}

// ---- every way to run a case ----

// How the runs of a case differ from a plain one; `number` is another one for each case and number of threads.
using Variations = std::vector<Variation> (*)(const Subject& subject, const DeterminismCase& c,
                                              uint64_t number);

std::vector<Variation> Plain(const Subject&, const DeterminismCase&, uint64_t) { return {Variation{}}; }

std::vector<Variation> Layouts(const Subject&, const DeterminismCase& c, uint64_t number) {
  std::vector<Variation> variations;
  const uint64_t repeats = NumElements(c.output_shape) > 20000 ? 1 : 3;
  for (uint64_t i = 1; i <= repeats; ++i) variations.push_back({.layout_seed = number * 10 + i});
  return variations;
}

std::vector<Variation> Alignments(const Subject&, const DeterminismCase&, uint64_t number) {
  return {{.alignment_seed = number}, {.layout_seed = number, .alignment_seed = number + 7}};
}

std::vector<Variation> Lengths(const Subject& subject, const DeterminismCase& c, uint64_t number) {
  if (!c.HasOneShape() || !subject.cuts_freely(c.attributes)) return {};
  return {{.length_seed = number},
          {.layout_seed = number, .alignment_seed = number, .length_seed = number + 1000}};
}

std::vector<Variation> FloatingPointEnvironments(const Subject&, const DeterminismCase& c, uint64_t number) {
  std::vector<Variation> variations;
  const std::vector<FpMode>& modes = UnusualFpModes();
  for (size_t i = 0; i < modes.size(); ++i) {
    const bool small = NumElements(c.output_shape) <= 20000;
    if (small || (number + i) % 3 == 0)
      variations.push_back({.layout_seed = i % 2 * number, .fp_mode = &modes[i]});
  }
  return variations;
}

// An operator with every instruction set and all variations; in one test, as making the cases costs more than a run.
class Determinism : public ::testing::TestWithParam<size_t> {
 protected:
  Determinism() : results_(cases().size()) {}

  const Subject& subject() const { return Subjects()[GetParam()]; }
  const std::vector<DeterminismCase>& cases() const { return CasesOf(GetParam()); }

  // Runs every case in every way that `variations` lists, with so many threads. `in_turns`: each variation of a case with
  // one of the numbers of threads, and the next variation with the next one.
  void Check(engine::Isa isa, Variations variations, const std::vector<int>& thread_counts, bool in_turns) {
    uint64_t number = 0;
    for (size_t turn = 0; turn < thread_counts.size(); ++turn) {
      const int threads = thread_counts[turn];
      const ScopedEnvironment environment(VariablesOf(subject(), engine::IsaName(isa), threads));
      ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
      for (size_t i = 0; i < cases().size(); ++i) {
        const DeterminismCase& c = cases()[i];
        size_t index = i;
        for (const Variation& variation : variations(subject(), c, ++number)) {
          if (in_turns && index++ % thread_counts.size() != turn) continue;
          std::vector<std::byte> result = ResultOf(subject(), c, variation, environment.stream());
          ASSERT_TRUE(HasHash(i, std::move(result)))
              << c.name << " on " << engine::IsaName(isa) << " with " << threads << " threads, layout seed "
              << variation.layout_seed << ", alignment seed " << variation.alignment_seed << ", length seed "
              << variation.length_seed << ", floating-point environment "
              << (variation.fp_mode != nullptr ? variation.fp_mode->name : "as usual");
          if (NumElements(c.output_shape) > 0 && !subject().is_plain_code) {
            ASSERT_EQ(engine::IsaThatRanLast(), isa) << c.name;
          }
        }
      }
    }
  }

 private:
  // Whether a result of a case has the hash that is committed; bytes that had it before need not be hashed.
  ::testing::AssertionResult HasHash(size_t i, std::vector<std::byte> result) {
    if (results_[i].has_value() && *results_[i] == result) return ::testing::AssertionSuccess();
    static const std::map<std::string, std::string> hashes = ReadHashes();
    const auto committed = hashes.find(cases()[i].name);
    if (committed == hashes.end())
      return ::testing::AssertionFailure() << "there is no hash; see the head of this file";
    const std::string hash = HashText(HashElements(cases()[i].output_dtype, result));
    if (hash != committed->second)
      return ::testing::AssertionFailure() << hash << " instead of " << committed->second;
    results_[i] = std::move(result);
    return ::testing::AssertionSuccess();
  }

  std::vector<std::optional<std::vector<std::byte>>> results_;
};

// Whether a function is to be run in every way.
bool IsWhole(const std::string& subject) {
  const char* const chosen = std::getenv("PORTACL_DETERMINISM_WHOLE");
  if (chosen == nullptr) return true;
  const std::string function = subject.substr(0, subject.find('_'));  // "aclnnAddRmsNorm_sum": an output
  std::istringstream names(chosen);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == function) return true;
  }
  return false;
}

// Kernels of the portable set take most of the time, and what cuts the work into parts is the same code on every
// set. So where a list chooses functions, portable kernels see a sample: every layout, alignment, length and
// environment with one number of threads each.
TEST_P(Determinism, SameBits) {
  const bool is_whole = IsWhole(subject().description.binding.name);
  const bool is_chosen = std::getenv("PORTACL_DETERMINISM_WHOLE") != nullptr && IsasToTest().size() > 1;
  const std::vector<Variations> all = {Plain, Layouts, Alignments, Lengths, FloatingPointEnvironments};
  for (const engine::Isa isa : IsasToTest()) {
    for (const Variations variations : is_whole ? all : std::vector<Variations>{Plain}) {
      const bool in_turns = is_chosen && isa == engine::Isa::kPortable && variations != Plain;
      Check(isa, variations, is_whole ? std::vector<int>{1, 2, 7} : std::vector<int>{2}, in_turns);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Determinism, ::testing::Range(size_t{0}, CountSubjects()),
                         [](const ::testing::TestParamInfo<size_t>& parameter) {
                           return Subjects()[parameter.param].description.binding.name;
                         });

}  // namespace

DescribedSubjects::DescribedSubjects(std::function<std::vector<Subject>()> make) {
  Described().push_back({Subjects().size(), std::move(make)});
}

}  // namespace portacl::testing
