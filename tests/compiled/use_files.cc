// Uses compiled files of strangers: each is refused, or every method can be called without going astray.
// Prints how many were refused and used.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "morphlm.hpp"

namespace {

volatile double sink = 0.0;  // so that nothing is optimised away

void use(const morphlm::Model& model) {
  morphlm::Cache cache(model, 0.05), none(model, 0.0);
  const auto limit = static_cast<morphlm::WordId>(model.words());
  for (morphlm::WordId id = -2; id < limit + 2 && id < 300; ++id) {
    for (const char c : model.word(id)) sink = sink + c;
    sink = sink + model.id(model.word(id));
  }
  sink = sink + model.id("no such word");
  for (morphlm::State state : {model.begin(), model.null_context()}) {
    for (int step = 0; step < 40; ++step) {
      const morphlm::WordId word = (step * 7) % (limit + 3) - 1;
      auto [logprob, next] = model.logprob(state, word, cache);
      sink = sink + logprob;
      state = next;
    }
    const std::vector<double> p = model.distribution(state, cache);
    sink = sink + p.back();
  }
  // States that no model gave.
  for (const int value : {-2, -1, 0, 1, 1000, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    morphlm::State state = model.begin();
    std::fill_n(state.data(), state.size(), value);
    std::vector<morphlm::State> states(9, state), next(9);
    std::vector<morphlm::WordId> words{0, 1, 2, 3, 4, limit - 1, limit, -1, value};
    std::vector<double> logprobs(9);
    model.logprobs(states.data(), words.data(), 9, logprobs.data(), next.data(), none);
    model.logprobs(next.data(), words.data(), 9, logprobs.data(), nullptr, cache);
    sink = sink + logprobs[8] + model.distribution(state, cache)[0];
    const std::vector<morphlm::WordId> context(150, value);
    sink = sink + model.logprob_after(context.data(), context.size(), 3, cache);
  }
  double largest = 0.0;
  sink = sink + (model.self_test(&largest) ? 1 : 0) + (model.verify() ? 1 : 0);
}

// A file in memory of exactly its size, where the sanitizer sees what is read beyond it; beyond a map it would not.
class FileInMemory {
 public:
  explicit FileInMemory(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    size = content.size();
    if (::posix_memalign(&data, 64, size)) throw std::bad_alloc();
    std::copy(content.begin(), content.end(), static_cast<char*>(data));
  }
  ~FileInMemory() { std::free(data); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  void* data = nullptr;
  std::size_t size = 0;
};

}  // namespace

int main() {
  int refused = 0, used = 0;
  for (std::string path; std::getline(std::cin, path);) {
    try {
      const FileInMemory file(path);
      const morphlm::Model model(file.data, file.size);
      use(model);
      ++used;
    } catch (const morphlm::Error&) {
      ++refused;
    }
  }
  std::printf("%d refused, %d used\n", refused, used);
  return 0;
}
