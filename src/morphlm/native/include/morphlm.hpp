// morphlm.hpp: language models of morphlm in C++17 programs. Header-only, without dependencies.
//
// It reads compiled files, which `morphlm export MODEL FILE --format compiled` writes; docs/formats.md describes them.
//
//   morphlm::Model model("model.mlm");           // mapped; immutable, threads and processes share it
//   morphlm::Cache cache(model);                 // one for each thread, of a fixed size
//   morphlm::State state = model.begin();
//   for (std::string_view word : {"we", "are", "</s>"}) {
//     auto [logprob, next] = model.logprob(state, model.id(word), cache);   // natural logarithm
//     state = next;
//   }
//
// A file may come from a stranger. Loading checks the structure, so that every section lies within the file and has the
// size that it must have. No value inside is trusted: each index is checked where it is used, so that scoring stays
// within the file and ends, whatever the file holds. `verify` compares the content with its SHA-256, `self_test` scores
// the sentences in the file; both are for the caller to ask for, since they read all or some of it.
//
// Needs GCC or Clang, and a little-endian POSIX system. Everything may throw `morphlm::Error`.

#ifndef MORPHLM_HPP
#define MORPHLM_HPP

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(__GNUC__)
#error "morphlm.hpp needs GCC or Clang"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "morphlm.hpp needs a little-endian machine: compiled files are mapped as they are"
#endif

namespace morphlm {

using WordId = std::int32_t;

constexpr WordId UNKNOWN = 0;   // <unk>
constexpr WordId BEGIN = 1;     // <s>, which is never predicted
constexpr WordId END = 2;       // </s>
constexpr WordId NOTHING = -1;  // in a context: no word is known here

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

constexpr double MINUS_INFINITY = -std::numeric_limits<double>::infinity();

// ------------------------------------------------------------------------------------------------ files

// What a model is read from: a mapped file, or memory of somebody else's.
class Bytes {
 public:
  explicit Bytes(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) throw Error(path + ": it cannot be read (" + std::strerror(errno) + ")");
    struct stat status;
    const bool is_regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    void* mapped = MAP_FAILED;
    if (is_regular) mapped = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (mapped == MAP_FAILED) throw Error(path + ": this is no file that can be mapped");
    data_ = static_cast<const unsigned char*>(mapped);
    size_ = static_cast<std::size_t>(status.st_size);
    is_mapped_ = true;
  }
  Bytes(const void* data, std::size_t size) : data_(static_cast<const unsigned char*>(data)), size_(size) {}
  ~Bytes() {
    if (is_mapped_) ::munmap(const_cast<unsigned char*>(data_), size_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  const unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_mapped_ = false;
};

// SHA-256 (FIPS 180-4) of some bytes.
class Sha256 {
 public:
  static std::array<unsigned char, 32> of(const unsigned char* data, std::size_t size) {
    Sha256 hash;
    std::size_t at = 0;
    for (; size - at >= 64; at += 64) hash.add(data + at);
    unsigned char last[128] = {};
    const std::size_t rest = size - at;
    if (rest) std::memcpy(last, data + at, rest);
    last[rest] = 0x80;
    const std::size_t padded = rest < 56 ? 64 : 128;
    const std::uint64_t bits = static_cast<std::uint64_t>(size) * 8;
    for (std::size_t k = 0; k < 8; ++k) last[padded - 1 - k] = static_cast<unsigned char>(bits >> (8 * k));
    for (std::size_t k = 0; k < padded; k += 64) hash.add(last + k);
    std::array<unsigned char, 32> digest;
    for (std::size_t k = 0; k < 32; ++k)
      digest[k] = static_cast<unsigned char>(hash.state_[k / 4] >> (24 - 8 * (k % 4)));
    return digest;
  }

 private:
  static std::uint32_t rotated(std::uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

  void add(const unsigned char* block) {
    static constexpr std::uint32_t constants[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    std::uint32_t w[64];
    for (std::size_t k = 0; k < 16; ++k) {
      const unsigned char* four = block + 4 * k;
      w[k] = static_cast<std::uint32_t>(four[0]) << 24 | static_cast<std::uint32_t>(four[1]) << 16 |
             static_cast<std::uint32_t>(four[2]) << 8 | static_cast<std::uint32_t>(four[3]);
    }
    for (std::size_t k = 16; k < 64; ++k) {
      const std::uint32_t a = w[k - 15], b = w[k - 2];
      w[k] = w[k - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ (a >> 3)) + w[k - 7] +
             (rotated(b, 17) ^ rotated(b, 19) ^ (b >> 10));
    }
    std::array<std::uint32_t, 8> s = state_;
    for (std::size_t k = 0; k < 64; ++k) {
      const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]),
                          majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      const std::uint32_t first =
          s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) + choice + constants[k] + w[k];
      const std::uint32_t second = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) + majority;
      s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t k = 0; k < 8; ++k) state_[k] += s[k];
  }

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

// ------------------------------------------------------------------------------------------------ sections

constexpr std::size_t ALIGNMENT = 64, HEADER_SIZE = 128, ENTRY_SIZE = 64, DIGEST_AT = 32, DIGESTED_FROM = 64;
constexpr std::uint32_t VERSION = 1, BYTE_ORDER_MARK = 0x01020304, MOST_SECTIONS = 10000, MOST_MODELS = 100;
constexpr int MOST_LEVELS = 8, MOST_ORDER = 100;

struct Half {  // IEEE 754 binary16; signed, so that widening copies the sign
  std::int16_t bits;
};

template <class T>
struct ElementCode;
template <>
struct ElementCode<std::uint8_t> : std::integral_constant<int, 1> {};
template <>
struct ElementCode<std::uint16_t> : std::integral_constant<int, 2> {};
template <>
struct ElementCode<std::uint32_t> : std::integral_constant<int, 3> {};
template <>
struct ElementCode<std::int32_t> : std::integral_constant<int, 4> {};
template <>
struct ElementCode<std::int64_t> : std::integral_constant<int, 5> {};
template <>
struct ElementCode<Half> : std::integral_constant<int, 6> {};
template <>
struct ElementCode<float> : std::integral_constant<int, 7> {};
template <>
struct ElementCode<double> : std::integral_constant<int, 8> {};

constexpr std::size_t element_size(int code) {
  constexpr std::size_t sizes[] = {0, 1, 2, 4, 4, 8, 2, 4, 8};
  return code >= 1 && code <= 8 ? sizes[code] : 0;
}

// An array of a file.
template <class T>
struct View {
  const T* data = nullptr;
  std::size_t size = 0;
  const T& operator[](std::size_t k) const { return data[k]; }
};

struct Section {
  int code = 0;
  std::vector<std::size_t> shape;
  const unsigned char* data = nullptr;
};

// The header and the table of sections. What is here has been checked against the size of the file.
class Container {
 public:
  explicit Container(const Bytes& bytes) {
    const unsigned char* data = bytes.data();
    if (bytes.size() < HEADER_SIZE || std::memcmp(data, "morphlm\x1a", 8) != 0)
      throw Error("this is no compiled model");
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::max_align_t)) throw Error("the memory is not aligned");
    if (number<std::uint32_t>(data + 8) != VERSION) {
      throw Error("version " + std::to_string(number<std::uint32_t>(data + 8)) + " of the format, this program reads " +
                  std::to_string(VERSION));
    }
    check(number<std::uint32_t>(data + 12) == BYTE_ORDER_MARK && number<std::uint64_t>(data + 24) == 0, "the header");
    check(number<std::uint64_t>(data + 16) == bytes.size(), "the size");
    const auto sections = number<std::uint32_t>(data + 64);
    models = number<std::uint32_t>(data + 68);
    words = number<std::uint32_t>(data + 72);
    listed = number<std::uint32_t>(data + 76);
    for (std::size_t k = 80; k < HEADER_SIZE; ++k) check(data[k] == 0, "the header");
    check(sections > 0 && sections <= MOST_SECTIONS && models > 0 && models <= MOST_MODELS, "the number of sections");
    check(words >= 3 && listed >= words && listed < 0x7fffffff, "the number of words");
    check(sections * ENTRY_SIZE <= bytes.size() - HEADER_SIZE, "the table of sections");
    std::size_t end = HEADER_SIZE + sections * ENTRY_SIZE;
    for (std::uint32_t k = 0; k < sections; ++k) end = add(bytes, data + HEADER_SIZE + k * ENTRY_SIZE, end);
    check(end == bytes.size(), "the end of the file");
  }

  bool has(std::uint32_t model, const char* name) const { return sections_.count({model, name}) > 0; }

  const Section& section(std::uint32_t model, const char* name) const {
    const auto found = sections_.find({model, name});
    if (found == sections_.end()) throw Error(std::string("the section ") + name + " is missing");
    return found->second;
  }

  // A section of a type and shape; a size of ANY may be anything.
  static constexpr std::size_t ANY = static_cast<std::size_t>(-1);
  template <class T>
  View<T> get(std::uint32_t model, const char* name, std::initializer_list<std::size_t> shape) const {
    const Section& found = section(model, name);
    check(found.code == ElementCode<T>::value, name);
    return {reinterpret_cast<const T*>(found.data), checked_size(found, name, shape)};
  }

  static std::size_t checked_size(const Section& found, const char* name, std::initializer_list<std::size_t> shape) {
    check(found.shape.size() == shape.size(), name);
    std::size_t size = 1, k = 0;
    for (const std::size_t expected : shape) {
      check(expected == ANY || expected == found.shape[k], name);
      size *= found.shape[k++];
    }
    return size;
  }

  static void check(bool is_right, const char* what) {
    if (!is_right) throw Error(std::string("not a compiled model, or damaged: ") + what + " is wrong");
  }

  std::uint32_t models = 0;
  std::uint32_t words = 0;   // V, of the vocabulary
  std::uint32_t listed = 0;  // with those beyond it that contexts compose

 private:
  template <class T>
  static T number(const unsigned char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  // Sections follow each other, each at the next multiple of ALIGNMENT. Gives the end of this one.
  std::size_t add(const Bytes& bytes, const unsigned char* entry, std::size_t end) {
    const std::string name(reinterpret_cast<const char*>(entry), strnlen(reinterpret_cast<const char*>(entry), 16));
    const auto model = number<std::uint32_t>(entry + 16);
    Section section;
    section.code = number<std::uint16_t>(entry + 20);
    const auto dimensions = number<std::uint16_t>(entry + 22);
    const auto offset = number<std::uint64_t>(entry + 48), length = number<std::uint64_t>(entry + 56);
    check(model < models && element_size(section.code) && dimensions >= 1 && dimensions <= 3, "a section");
    std::uint64_t size = element_size(section.code);
    for (int k = 0; k < 3; ++k) {
      const auto extent = number<std::uint64_t>(entry + 24 + 8 * k);
      if (k >= dimensions) {
        check(extent == 0, "the shape of a section");
        continue;
      }
      check(extent <= bytes.size() && (extent == 0 || size <= bytes.size() / extent), "the shape of a section");
      size *= extent;
      section.shape.push_back(static_cast<std::size_t>(extent));
    }
    const std::size_t begin = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    check(offset == begin && begin <= bytes.size() && length == size && length <= bytes.size() - begin, "an offset");
    section.data = bytes.data() + begin;
    check(sections_.emplace(std::make_pair(model, name), section).second, "a section that is there twice");
    return begin + static_cast<std::size_t>(length);
  }

  std::map<std::pair<std::uint32_t, std::string>, Section> sections_;
};

// ------------------------------------------------------------------------------------------------ sums

constexpr std::size_t TILE = 1024;  // rows that are scored at a time
constexpr std::size_t FOUR = 4;     // predictions that are multiplied with a row at a time
constexpr float LOWEST = -3e38f;

#define MORPHLM_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define MORPHLM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MORPHLM_UNROLL _Pragma("GCC unroll 8")
#endif

// Types of several numbers at a time, written out because GCC converts only types that no template leaves open.
template <int WIDTH>
struct Lanes;

template <>
struct Lanes<4> {
  typedef float Floats __attribute__((vector_size(16)));
  typedef std::uint32_t Bits __attribute__((vector_size(16)));
  typedef std::int32_t Integers __attribute__((vector_size(16)));
  typedef std::int16_t Halves __attribute__((vector_size(8)));
  typedef float FewFloats __attribute__((vector_size(8)));
  typedef std::int32_t FewIntegers __attribute__((vector_size(8)));
  typedef double Doubles __attribute__((vector_size(16)));
  typedef std::int64_t Wide __attribute__((vector_size(16)));

  static MORPHLM_INLINE void widen(const Halves& from, Bits& to) {
    to = (Bits) __builtin_convertvector(from, Integers);
  }
  static MORPHLM_INLINE void widen(const FewFloats& from, Doubles& to) { to = __builtin_convertvector(from, Doubles); }
  static MORPHLM_INLINE void widen(const FewIntegers& from, Doubles& to) {
    to = __builtin_convertvector(from, Doubles);
  }
  static MORPHLM_INLINE void widen(const FewIntegers& from, Wide& to) { to = __builtin_convertvector(from, Wide); }
  static MORPHLM_INLINE void truncate(const Doubles& from, FewIntegers& to) {
    to = __builtin_convertvector(from, FewIntegers);
  }
};

template <>
struct Lanes<8> {
  typedef float Floats __attribute__((vector_size(32)));
  typedef std::uint32_t Bits __attribute__((vector_size(32)));
  typedef std::int32_t Integers __attribute__((vector_size(32)));
  typedef std::int16_t Halves __attribute__((vector_size(16)));
  typedef float FewFloats __attribute__((vector_size(16)));
  typedef std::int32_t FewIntegers __attribute__((vector_size(16)));
  typedef double Doubles __attribute__((vector_size(32)));
  typedef std::int64_t Wide __attribute__((vector_size(32)));

  static MORPHLM_INLINE void widen(const Halves& from, Bits& to) {
    to = (Bits) __builtin_convertvector(from, Integers);
  }
  static MORPHLM_INLINE void widen(const FewFloats& from, Doubles& to) { to = __builtin_convertvector(from, Doubles); }
  static MORPHLM_INLINE void widen(const FewIntegers& from, Doubles& to) {
    to = __builtin_convertvector(from, Doubles);
  }
  static MORPHLM_INLINE void widen(const FewIntegers& from, Wide& to) { to = __builtin_convertvector(from, Wide); }
  static MORPHLM_INLINE void truncate(const Doubles& from, FewIntegers& to) {
    to = __builtin_convertvector(from, FewIntegers);
  }
};

template <int WIDTH>
MORPHLM_INLINE void load(const float* from, typename Lanes<WIDTH>::Floats& to) {
  std::memcpy(&to, from, sizeof to);
}

// Sign, exponent and mantissa are moved to where float has them; the exponent then lacks 112.
template <int WIDTH>
MORPHLM_INLINE void load(const Half* from, typename Lanes<WIDTH>::Floats& to) {
  using Bits = typename Lanes<WIDTH>::Bits;
  using Floats = typename Lanes<WIDTH>::Floats;
  typename Lanes<WIDTH>::Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  Bits bits;
  Lanes<WIDTH>::widen(halves, bits);
  to = (Floats)((bits << 13) & 0x8fffe000u) * 5.192296858534828e33f;
}

MORPHLM_INLINE float as_float(float x) { return x; }
MORPHLM_INLINE float as_float(Half x) {
  const std::uint32_t bits = (static_cast<std::uint32_t>(static_cast<std::int32_t>(x.bits)) << 13) & 0x8fffe000u;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value * 5.192296858534828e33f;  // 2^112
}

// out[i * TILE + row] = predictions[i] . table[row] + biases[row], of SIZE predictions, 1 to FOUR, and up to TILE rows.
template <int WIDTH, std::size_t SIZE, class T>
MORPHLM_INLINE void score_rows(const T* table, const float* biases, std::size_t rows, const float* predictions,
                               std::size_t width, float* out) {
  using Floats = typename Lanes<WIDTH>::Floats;
  Floats x, y, p;
  for (std::size_t row = 0; row < rows; row += 2) {
    const std::size_t following = row + 1 < rows ? row + 1 : row;
    const T *a = table + row * width, *b = table + following * width;
    Floats sums_a[SIZE] = {}, sums_b[SIZE] = {};
    std::size_t k = 0;
    for (; k + WIDTH <= width; k += WIDTH) {
      load<WIDTH>(a + k, x);
      load<WIDTH>(b + k, y);
      MORPHLM_UNROLL
      for (std::size_t i = 0; i < SIZE; ++i) {
        load<WIDTH>(predictions + i * width + k, p);
        sums_a[i] += x * p;
        sums_b[i] += y * p;
      }
    }
    MORPHLM_UNROLL
    for (std::size_t i = 0; i < SIZE; ++i) {
      float total_a = biases[row], total_b = biases[following];
      MORPHLM_UNROLL
      for (int lane = 0; lane < WIDTH; ++lane) {
        total_a += sums_a[i][lane];
        total_b += sums_b[i][lane];
      }
      for (std::size_t rest = k; rest < width; ++rest) {
        total_a += as_float(a[rest]) * predictions[i * width + rest];
        total_b += as_float(b[rest]) * predictions[i * width + rest];
      }
      out[i * TILE + row] = total_a;
      out[i * TILE + following] = total_b;
    }
  }
}

// The score of one row with one prediction, summed in the same order, so that all ways to ask agree.
template <int WIDTH, class T>
MORPHLM_INLINE float score_row(const T* row, float bias, const float* prediction, std::size_t width) {
  typename Lanes<WIDTH>::Floats x, p, sums = {};
  std::size_t k = 0;
  for (; k + WIDTH <= width; k += WIDTH) {
    load<WIDTH>(row + k, x);
    load<WIDTH>(prediction + k, p);
    sums += x * p;
  }
  MORPHLM_UNROLL
  for (int lane = 0; lane < WIDTH; ++lane) bias += sums[lane];
  for (; k < width; ++k) bias += as_float(row[k]) * prediction[k];
  return bias;
}

// The sum of exp(scores[k] - most), exact to 3e-10. `scores` has room for a multiple of 8, `most` is the largest of
// them. What is not between -700 and 0 after all, NaN too, counts as -700.
template <int WIDTH>
MORPHLM_INLINE double sum_exponentials(float* scores, std::size_t size, float most) {
  using L = Lanes<WIDTH>;
  using Doubles = typename L::Doubles;
  using Wide = typename L::Wide;
  const double reference = static_cast<double>(most);
  for (std::size_t k = size; k % 8; ++k) scores[k] = LOWEST;
  const Doubles lowest = Doubles{} - 700.0;
  Doubles total = {};
  for (std::size_t k = 0; k < size; k += WIDTH / 2) {
    typename L::FewFloats loaded;
    std::memcpy(&loaded, scores + k, sizeof loaded);
    Doubles x;
    L::widen(loaded, x);
    x -= reference;
    const Wide is_in_range = (Wide)(x > -700.0) & (Wide)(x <= 0.0);
    x = (Doubles)((is_in_range & (Wide)x) | (~is_in_range & (Wide)lowest));
    // x = n ln 2 + f with |f| <= ln 2 / 2; exp(f) is its Taylor polynomial, 2^n is set in the bits.
    typename L::FewIntegers n;
    L::truncate(x * 1.4426950408889634 - 0.5, n);
    Doubles whole;
    L::widen(n, whole);
    const Doubles f = x - whole * 6.93145751953125e-1 - whole * 1.42860682030941723212e-6;
    Doubles y = f * (1.0 / 40320.0) + 1.0 / 5040.0;
    y = y * f + 1.0 / 720.0;
    y = y * f + 1.0 / 120.0;
    y = y * f + 1.0 / 24.0;
    y = y * f + 1.0 / 6.0;
    y = y * f + 0.5;
    y = y * f + 1.0;
    y = y * f + 1.0;
    Wide exponent;
    L::widen(n, exponent);
    total += y * (Doubles)((exponent + 1023) << 52);
  }
  double sum = 0.0;
  for (int lane = 0; lane < WIDTH / 2; ++lane) sum += total[lane];
  return sum;
}

// The two loops that take the time, for one type of processor.
struct Kernels {
  void (*score)(const float*, const float*, std::size_t, const float*, std::size_t, std::size_t, float*);
  void (*score_half)(const Half*, const float*, std::size_t, const float*, std::size_t, std::size_t, float*);
  double (*sum)(float*, std::size_t, float);
};

template <int WIDTH, class T>
MORPHLM_INLINE void score_any(const T* table, const float* biases, std::size_t rows, const float* predictions,
                              std::size_t size, std::size_t width, float* out) {
  if (size == 1 && rows == 1) {
    *out = score_row<WIDTH>(table, *biases, predictions, width);
    return;
  }
  if (size == 1) return score_rows<WIDTH, 1>(table, biases, rows, predictions, width, out);
  if (size == 2) return score_rows<WIDTH, 2>(table, biases, rows, predictions, width, out);
  if (size == 3) return score_rows<WIDTH, 3>(table, biases, rows, predictions, width, out);
  return score_rows<WIDTH, FOUR>(table, biases, rows, predictions, width, out);
}

#define MORPHLM_KERNELS(NAME, TARGET, WIDTH)                                                                          \
  struct NAME {                                                                                                       \
    TARGET static void score(const float* table, const float* biases, std::size_t rows, const float* predictions,     \
                             std::size_t size, std::size_t width, float* out) {                                       \
      score_any<WIDTH>(table, biases, rows, predictions, size, width, out);                                           \
    }                                                                                                                 \
    TARGET static void score_half(const Half* table, const float* biases, std::size_t rows, const float* predictions, \
                                  std::size_t size, std::size_t width, float* out) {                                  \
      score_any<WIDTH>(table, biases, rows, predictions, size, width, out);                                           \
    }                                                                                                                 \
    TARGET static double sum(float* scores, std::size_t size, float most) {                                           \
      return sum_exponentials<WIDTH>(scores, size, most);                                                             \
    }                                                                                                                 \
    static constexpr Kernels kernels() { return {score, score_half, sum}; }                                           \
  };

MORPHLM_KERNELS(PlainKernels, , 4)
#if defined(__x86_64__)
MORPHLM_KERNELS(Avx2Kernels, __attribute__((target("avx2,fma"))), 8)
#endif

inline Kernels best_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Avx2Kernels::kernels();
#endif
  return PlainKernels::kernels();
}

#undef MORPHLM_KERNELS

// Vectors of one length, in single or half precision.
struct Table {
  const float* single = nullptr;
  const Half* half = nullptr;
  std::size_t rows = 0, width = 0;

  static Table of(const Container& container, std::uint32_t model, const char* name,
                  std::initializer_list<std::size_t> shape) {
    const Section& section = container.section(model, name);
    Container::check(section.code == ElementCode<float>::value || section.code == ElementCode<Half>::value, name);
    const std::size_t size = Container::checked_size(section, name, shape);
    Table table;
    table.width = section.shape.back();
    table.rows = table.width ? size / table.width : 0;
    if (section.code == ElementCode<Half>::value) {
      table.half = reinterpret_cast<const Half*>(section.data);
    } else {
      table.single = reinterpret_cast<const float*>(section.data);
    }
    return table;
  }

  void score(const Kernels& kernels, const float* biases, std::size_t begin, std::size_t rows_scored,
             const float* predictions, std::size_t size, float* out) const {
    if (half)
      return kernels.score_half(half + begin * width, biases + begin, rows_scored, predictions, size, width, out);
    kernels.score(single + begin * width, biases + begin, rows_scored, predictions, size, width, out);
  }

  // sum[k] += row[k] * factors[k], or row[k] without factors.
  void add_row(std::size_t row, const float* factors, float* sum) const {
    if (half) return add(half + row * width, factors, sum);
    add(single + row * width, factors, sum);
  }

 private:
  template <class T>
  void add(const T* row, const float* factors, float* sum) const {
    if (factors) {
      for (std::size_t k = 0; k < width; ++k) sum[k] += as_float(row[k]) * factors[k];
    } else {
      for (std::size_t k = 0; k < width; ++k) sum[k] += as_float(row[k]);
    }
  }
};

// ------------------------------------------------------------------------------------------------ words

// The words by their ids, and their ids by a hash table that is bounded in what it looks at.
class Words {
 public:
  explicit Words(const Container& container)
      : starts_(container.get<std::int64_t>(0, "word_starts", {std::size_t{container.listed} + 1})),
        bytes_(container.get<std::uint8_t>(0, "word_bytes", {Container::ANY})),
        table_(container.get<std::int32_t>(0, "word_table", {Container::ANY, 2})),
        slots_(table_.size / 2) {
    Container::check(slots_ > 0 && (slots_ & (slots_ - 1)) == 0, "the table of words");
    Container::check(bytes_.size > 0 && bytes_[bytes_.size - 1] == 0, "the end of the words");
  }

  std::size_t size() const { return starts_.size - 1; }

  std::string_view word(std::size_t id) const {
    const std::int64_t begin = starts_[id], end = starts_[id + 1], size = static_cast<std::int64_t>(bytes_.size);
    if (begin < 0 || begin >= end || end > size) return {};
    const char* text = reinterpret_cast<const char*>(bytes_.data + begin);
    return {text, static_cast<std::size_t>(end - begin - 1)};
  }

  // It ends with a NUL, as the pool does.
  const char* c_string(std::size_t id) const {
    const std::int64_t begin = starts_[id];
    if (begin < 0 || begin >= static_cast<std::int64_t>(bytes_.size)) return "";
    return reinterpret_cast<const char*>(bytes_.data + begin);
  }

  WordId id(std::string_view word) const {
    const std::uint64_t code = hash(word);
    const auto mark = static_cast<std::int32_t>(static_cast<std::uint32_t>(code >> 32));
    for (std::size_t probe = 0; probe < PROBES; ++probe) {
      const std::size_t slot = (static_cast<std::size_t>(code) + probe) & (slots_ - 1);
      const WordId id = table_[2 * slot + 1];
      if (id < 0 || static_cast<std::size_t>(id) >= size()) break;
      if (table_[2 * slot] == mark && this->word(static_cast<std::size_t>(id)) == word) return id;
    }
    return UNKNOWN;
  }

 private:
  static constexpr std::size_t PROBES = 64;

  static std::uint64_t hash(std::string_view word) {  // FNV-1a, then mixed
    std::uint64_t code = 0xCBF29CE484222325u;
    for (const char c : word) code = (code ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    code ^= code >> 32;
    code *= 0x9E3779B97F4A7C15u;
    return code ^ (code >> 29);
  }

  View<std::int64_t> starts_;
  View<std::uint8_t> bytes_;
  View<std::int32_t> table_;
  std::size_t slots_;
};

// ------------------------------------------------------------------------------------------------ n-grams

// A back-off model as a trie: see "Kind mkn" in docs/formats.md. A state is the node of the longest context that
// matters.
class Ngrams {
 public:
  static constexpr std::int32_t ROOT = -1;

  Ngrams(const Container& container, std::uint32_t model, std::size_t order)
      : words_(container.get<std::int32_t>(model, "words", {Container::ANY})),
        logprob_(container.get<float>(model, "logprob", {words_.size})),
        suffix_(container.get<std::int32_t>(model, "suffix", {words_.size})),
        backoff_(container.get<float>(model, "backoff", {Container::ANY})),
        first_child_(container.get<std::int64_t>(model, "first_child", {backoff_.size + 1})),
        vocabulary_(container.words) {
    Container::check(
        words_.size >= vocabulary_ && words_.size < 0x7fffffff && backoff_.size <= words_.size && order >= 1,
        "the number of n-grams");
    if (container.has(model, "buckets")) buckets_ = container.get<std::uint16_t>(model, "buckets", {backoff_.size + 1});
  }

  // ln p(word | state), and the state after it. The word is one of the vocabulary.
  double score(std::int32_t state, WordId word, std::int32_t* next) const {
    double total = 0.0;
    if (is_member(word)) {
      total = static_cast<double>(logprob_[static_cast<std::size_t>(word)]);
      word = UNKNOWN;
    }
    std::int32_t node = checked(state);
    std::int64_t child = find_child(node, word);
    for (int step = 0; child < 0; ++step) {
      total += static_cast<double>(backoff_[static_cast<std::size_t>(node)]);
      node = step < MOST_ORDER ? shorter(node) : ROOT;
      child = find_child(node, word);
    }
    if (next) *next = shortest_equivalent(static_cast<std::int32_t>(child));
    return total + static_cast<double>(logprob_[static_cast<std::size_t>(child)]);
  }

  std::int32_t begin() const { return shortest_equivalent(BEGIN); }

  bool sorts_contexts() const { return buckets_.size > 0; }
  std::size_t bucket(std::int32_t state) const { return buckets_[static_cast<std::size_t>(checked(state) + 1)]; }

  // p of every word of the vocabulary: the unigrams, overlaid from the longest context to the shortest.
  void distribution(std::int32_t state, double* out) const {
    std::fill_n(out, vocabulary_, -1.0);
    double weight = 1.0;
    std::int32_t node = checked(state);
    for (int step = 0; node != ROOT && step < MOST_ORDER; ++step, node = shorter(node)) {
      const auto [begin, end] = children(node);
      for (std::size_t child = begin; child < end; ++child) {
        const std::int32_t word = words_[child];
        if (word >= 0 && static_cast<std::size_t>(word) < vocabulary_ && out[word] < 0) {
          out[word] = weight * std::exp(static_cast<double>(logprob_[child]));
        }
      }
      weight *= std::exp(static_cast<double>(backoff_[static_cast<std::size_t>(node)]));
    }
    for (std::size_t word = 0; word < vocabulary_; ++word) {
      if (out[word] < 0) out[word] = weight * std::exp(static_cast<double>(logprob_[word]));
    }
    for (std::size_t word = 0; word < vocabulary_; ++word) {
      const bool shares = is_member(static_cast<WordId>(word));
      if (shares) out[word] = out[UNKNOWN] * std::exp(static_cast<double>(logprob_[word]));
    }
  }

 private:
  // Whether a word has its share of the probability of UNK, and is UNK in contexts: a model was extended by it.
  bool is_member(WordId word) const { return word > END && suffix_[static_cast<std::size_t>(word)] == UNKNOWN; }

  std::int32_t checked(std::int32_t state) const {
    return state >= 0 && static_cast<std::size_t>(state) < backoff_.size ? state : ROOT;
  }

  // The context without its first word. Nodes of shorter n-grams come first, so that every walk ends.
  std::int32_t shorter(std::int32_t node) const {
    const std::int32_t suffix = suffix_[static_cast<std::size_t>(node)];
    return suffix < node ? checked(suffix) : ROOT;
  }

  std::pair<std::size_t, std::size_t> children(std::int32_t node) const {
    const std::int64_t begin = first_child_[static_cast<std::size_t>(node)];
    const std::int64_t end = first_child_[static_cast<std::size_t>(node) + 1];
    if (begin < 0 || begin > end || end > static_cast<std::int64_t>(words_.size)) return {0, 0};
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
  }

  std::int64_t find_child(std::int32_t node, WordId word) const {
    if (node == ROOT) return word;
    const auto [begin, end] = children(node);
    if (begin == end) return -1;
    const std::int32_t* low = words_.data + begin;
    for (std::size_t size = end - begin; size > 1;) {  // without branches that nobody can predict
      const std::size_t half = size / 2;
      low += low[half] <= word ? half : 0;
      size -= half;
    }
    return *low == word ? low - words_.data : -1;
  }

  // Drops what cannot matter for the future: contexts that nothing extends and that back off for free.
  std::int32_t shortest_equivalent(std::int32_t node) const {
    for (int step = 0; node != ROOT && step <= MOST_ORDER; ++step) {
      if (static_cast<std::size_t>(node) < backoff_.size) {
        const auto [begin, end] = children(node);
        if (begin != end || backoff_[static_cast<std::size_t>(node)] != 0.0f) return node;
      }
      const std::int32_t suffix = suffix_[static_cast<std::size_t>(node)];
      node = suffix >= 0 && suffix < node ? suffix : ROOT;
    }
    return ROOT;
  }

  View<std::int32_t> words_;
  View<float> logprob_;
  View<std::int32_t> suffix_;
  View<float> backoff_;
  View<std::int64_t> first_child_;
  View<std::uint16_t> buckets_;
  std::size_t vocabulary_;
};

// ------------------------------------------------------------------------------------------------ log-bilinear models

template <class T>
struct FreeDeleter {
  void operator()(T* memory) const { std::free(memory); }
};
template <class T>
using ZeroedArray = std::unique_ptr<T[], FreeDeleter<T>>;

template <class T>
ZeroedArray<T> zeroed(std::size_t size) {  // takes memory from the system only where something is stored
  T* memory = static_cast<T*>(std::calloc(std::max<std::size_t>(size, 1), sizeof(T)));
  if (!memory) throw std::bad_alloc();
  return ZeroedArray<T>(memory);
}

// Sums of exponentials by context and class, of one model and thread. Set-associative, of a fixed size; whole keys are
// compared, so that contexts are never mixed up. Also the prediction of the last context, and working space.
class SumCache {
 public:
  static constexpr std::size_t WAYS = 4;
  static constexpr std::int32_t ALL_CLASSES = 1;  // in a key, instead of a class + 2; 0: the entry is empty

  SumCache(std::size_t distances, std::size_t width, double bytes)
      : distances_(distances),
        sets_(static_cast<std::size_t>(bytes / static_cast<double>(WAYS * (4 * (distances + 1) + 8) + 1))),
        keys_(zeroed<std::int32_t>(sets_ * WAYS * (distances + 1))),
        values_(zeroed<double>(sets_ * WAYS)),
        oldest_(zeroed<std::uint8_t>(sets_)),
        last(distances, NOTHING - 1),
        prediction(width),
        scores(FOUR * TILE) {}

  // A hash code of a context.
  std::uint64_t code(const WordId* context) const {
    std::uint64_t code = distances_;
    for (std::size_t j = 0; j < distances_; ++j) {
      code = code * 0xD1342543DE82EF95u + static_cast<std::uint64_t>(static_cast<std::int64_t>(context[j]));
    }
    return code;
  }

  const double* find(const WordId* context, std::uint64_t code, std::int32_t number) const {
    if (!sets_) return nullptr;
    const std::size_t first = index(code, number) * WAYS;
    for (std::size_t way = first; way < first + WAYS; ++way) {
      const std::int32_t* key = keys_.get() + way * (distances_ + 1);
      if (key[distances_] == number && std::equal(context, context + distances_, key)) return values_.get() + way;
    }
    return nullptr;
  }

  void store(const WordId* context, std::uint64_t code, std::int32_t number, double value) {
    if (!sets_) return;
    const std::size_t set = index(code, number), way = set * WAYS + oldest_[set];
    oldest_[set] = static_cast<std::uint8_t>((oldest_[set] + 1) % WAYS);
    std::int32_t* key = keys_.get() + way * (distances_ + 1);
    std::copy_n(context, distances_, key);
    key[distances_] = number;
    values_[way] = value;
  }

 private:
  std::size_t index(std::uint64_t code, std::int32_t number) const {
    code += static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15u;
    code = (code ^ (code >> 30)) * 0xBF58476D1CE4E5B9u;
    code = (code ^ (code >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>(((code ^ (code >> 31)) >> 32) * sets_ >> 32);
  }

  std::size_t distances_, sets_;
  ZeroedArray<std::int32_t> keys_;
  ZeroedArray<double> values_;
  ZeroedArray<std::uint8_t> oldest_;

 public:
  std::vector<WordId> last;       // the context that `prediction` belongs to
  std::vector<float> prediction;  // p
  std::vector<float> scores;      // working space of log_sums
};

// p = sum_j q_j C_j, P(w|h) = P(c|h) P(w|h, c), each a softmax; without classes there is one group of words.
class LogBilinear {
 public:
  LogBilinear(const Container& container, std::uint32_t model, std::size_t order)
      : kernels_(best_kernels()), distances_(order - 1), vocabulary_(container.words) {
    if (container.has(model, "unknown")) unknown_ = container.get<std::int32_t>(model, "unknown", {1});
    const std::size_t positions = vocabulary_ - 1 + unknown_.size;
    output_ = Table::of(container, model, "output", {positions, Container::ANY});
    const std::size_t width = output_.width;
    Container::check(order >= 2 && width >= 1, "the width of the vectors");
    biases_ = container.get<float>(model, "biases", {positions});
    class_biases_ = container.get<float>(model, "class_biases", {Container::ANY});
    classes_ = Table::of(container, model, "class_vectors", {class_biases_.size, width});
    class_of_ = container.get<std::int32_t>(model, "class_of", {positions});
    starts_ = container.get<std::int64_t>(model, "starts", {Container::ANY});
    const std::size_t groups = starts_.size - 1 - unknown_.size;
    Container::check(starts_.size >= 2 + unknown_.size && (class_biases_.size == 0 || class_biases_.size == groups),
                     "starts");
    Container::check(!unknown_.size || class_of_unknown() < groups, "unknown");
    position_of_ = container.get<std::int32_t>(model, "position_of", {Container::ANY});
    const std::size_t words = position_of_.size;
    Container::check(words == container.words || words == container.listed, "position_of");
    if (container.has(model, "diagonals")) {
      diagonals_ = container.get<float>(model, "diagonals", {distances_, width});
      context_ = Table::of(container, model, "context", {words, width});
    } else {
      context_ = Table::of(container, model, "context", {distances_, words, width});
    }
  }

  std::size_t distances() const { return distances_; }
  std::size_t width() const { return output_.width; }

  // The words that contexts may have: those of the vocabulary, and perhaps more, which are composed.
  std::size_t context_words() const { return position_of_.size; }

  // ln P(word | context); the context has n - 1 words below `context_words` or NOTHING, the nearest first.
  double score(const WordId* context, WordId word, SumCache& cache) const {
    std::size_t position, group;
    if (!find(word, &position, &group)) return MINUS_INFINITY;
    const std::uint64_t code = cache.code(context);
    const float* prediction = predict(context, cache);
    const auto number = static_cast<std::int32_t>(group + 2);
    double value;
    if (const double* found = cache.find(context, code, number)) {
      value = *found;
    } else {
      const double class_sum = sum_of_classes(context, code, prediction, cache);
      value = full_normaliser(prediction, group, class_sum, sum_of_words(prediction, group, cache), cache);
      cache.store(context, code, number, value);
    }
    return value + score_row(output_, biases_, position, prediction);
  }

  // The same for many words, (count,), each after its own context, (count, n - 1).
  void score_many(const WordId* contexts, const WordId* words, std::size_t count, double* out, SumCache& cache) const {
    for (std::size_t begin = 0; begin < count; begin += BATCH) {
      const std::size_t size = std::min(BATCH, count - begin);
      score_batch(contexts + begin * distances_, words + begin, size, out + begin, cache);
    }
  }

  // P of every word of the vocabulary; BEGIN has none.
  void distribution(const WordId* context, double* out, SumCache& cache) const {
    const float* prediction = predict(context, cache);
    double class_sum = 0.0;
    if (class_biases_.size) log_sums(classes_, class_biases_, 0, class_biases_.size, prediction, 1, &class_sum, cache);
    std::vector<double> normalisers(starts_.size - 1);
    for (std::size_t group = 0; group + 1 < starts_.size; ++group) {
      normalisers[group] = full_normaliser(prediction, group, class_sum, sum_of_words(prediction, group, cache), cache);
    }
    std::vector<float> scores(output_.rows);
    for (std::size_t begin = 0; begin < output_.rows; begin += TILE) {
      const std::size_t rows = std::min(TILE, output_.rows - begin);
      output_.score(kernels_, biases_.data, begin, rows, prediction, 1, cache.scores.data());
      std::copy_n(cache.scores.data(), rows, scores.data() + begin);
    }
    for (std::size_t word = 0; word < vocabulary_; ++word) {
      std::size_t position, group;
      const bool is_there = find(static_cast<WordId>(word), &position, &group);
      out[word] = is_there ? std::exp(normalisers[group] + static_cast<double>(scores[position])) : 0.0;
    }
  }

 private:
  static constexpr std::size_t BATCH = 512;

  // One of the queries of a batch whose sums the cache does not have.
  struct Query {
    std::size_t number, context, position, group;
  };

  bool find(WordId word, std::size_t* position, std::size_t* group) const {
    const std::int32_t at = position_of_[static_cast<std::size_t>(word)];
    if (at < 0 || static_cast<std::size_t>(at) >= class_of_.size) return false;
    const std::int32_t of = class_of_[static_cast<std::size_t>(at)];
    if (of < 0 || static_cast<std::size_t>(of) + 1 >= starts_.size) return false;
    *position = static_cast<std::size_t>(at);
    *group = static_cast<std::size_t>(of);
    return true;
  }

  void predict_into(const WordId* context, float* out) const {
    std::fill_n(out, width(), 0.0f);
    for (std::size_t j = 0; j < distances_; ++j) {
      if (context[j] < 0) continue;
      const auto word = static_cast<std::size_t>(context[j]);
      if (diagonals_.data) {
        context_.add_row(word, diagonals_.data + j * width(), out);
      } else {
        context_.add_row(j * context_words() + word, nullptr, out);
      }
    }
  }

  const float* predict(const WordId* context, SumCache& cache) const {
    if (!std::equal(context, context + distances_, cache.last.data())) {
      predict_into(context, cache.prediction.data());
      std::copy_n(context, distances_, cache.last.data());
    }
    return cache.prediction.data();
  }

  double score_row(const Table& table, const View<float>& biases, std::size_t row, const float* prediction) const {
    float score;
    table.score(kernels_, biases.data, row, 1, prediction, 1, &score);
    return static_cast<double>(score);
  }

  // out[i] = ln of the sum of exp(score) over some rows, with the prediction i of up to FOUR.
  void log_sums(const Table& table, const View<float>& biases, std::size_t begin, std::size_t end,
                const float* predictions, std::size_t size, double* out, SumCache& cache) const {
    float highest[FOUR] = {LOWEST, LOWEST, LOWEST, LOWEST};
    double total[FOUR] = {};
    for (std::size_t tile = begin; tile < end; tile += TILE) {
      const std::size_t rows = std::min(TILE, end - tile);
      table.score(kernels_, biases.data, tile, rows, predictions, size, cache.scores.data());
      for (std::size_t i = 0; i < size; ++i) {
        float* scores = cache.scores.data() + i * TILE;
        float most = highest[i];
        for (std::size_t k = 0; k < rows; ++k) most = scores[k] > most ? scores[k] : most;
        const double scale = std::exp(static_cast<double>(highest[i]) - static_cast<double>(most));
        total[i] = total[i] * scale + kernels_.sum(scores, rows, most);
        highest[i] = most;
      }
    }
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<double>(highest[i]) + std::log(total[i]);
  }

  std::pair<std::size_t, std::size_t> range(std::size_t group) const {
    const std::int64_t begin = starts_[group], end = starts_[group + 1];
    if (begin < 0 || begin > end || end > static_cast<std::int64_t>(output_.rows)) return {0, 0};
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
  }

  double sum_of_words(const float* prediction, std::size_t group, SumCache& cache) const {
    double sum;
    const auto [begin, end] = range(group);
    log_sums(output_, biases_, begin, end, prediction, 1, &sum, cache);
    return sum;
  }

  double sum_of_classes(const WordId* context, std::uint64_t code, const float* prediction, SumCache& cache) const {
    if (!class_biases_.size) return 0.0;
    if (const double* found = cache.find(context, code, SumCache::ALL_CLASSES)) return *found;
    double sum;
    log_sums(classes_, class_biases_, 0, class_biases_.size, prediction, 1, &sum, cache);
    cache.store(context, code, SumCache::ALL_CLASSES, sum);
    return sum;
  }

  // ln P(c|h) - ln sum_w exp nu(w); plus the score of a word it is ln P(w|h).
  double normaliser(const float* prediction, std::size_t group, double class_sum, double word_sum) const {
    if (!class_biases_.size) return -word_sum;
    return score_row(classes_, class_biases_, group, prediction) - class_sum - word_sum;
  }

  // The last group has UNK and the words by which a model was extended: they share P(UNK|h).
  bool shares_unknown(std::size_t group) const { return unknown_.size && group + 2 == starts_.size; }

  std::size_t class_of_unknown() const {
    const auto position = static_cast<std::size_t>(unknown_[0]);  // a negative one is too large
    if (position >= class_of_.size || class_of_[position] < 0) return starts_.size;
    return static_cast<std::size_t>(class_of_[position]);
  }

  // The same of any group: ln P(UNK|h) - ln sum_w exp nu(w) of the one that shares it.
  double full_normaliser(const float* prediction, std::size_t group, double class_sum, double word_sum,
                         SumCache& cache) const {
    if (!shares_unknown(group)) return normaliser(prediction, group, class_sum, word_sum);
    const std::size_t own = class_of_unknown();
    const double value = normaliser(prediction, own, class_sum, sum_of_words(prediction, own, cache));
    return value + score_row(output_, biases_, static_cast<std::size_t>(unknown_[0]), prediction) - word_sum;
  }

  // Sums of several contexts are computed together, as rows then serve FOUR predictions at a time.
  void score_batch(const WordId* contexts, const WordId* words, std::size_t count, double* out, SumCache& cache) const {
    std::vector<Query> queries;
    std::vector<std::size_t> order(count), context_of(count), firsts;
    for (std::size_t k = 0; k < count; ++k) order[k] = k;
    const auto context = [&](std::size_t k) { return contexts + k * distances_; };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::lexicographical_compare(context(a), context(a) + distances_, context(b), context(b) + distances_);
    });
    for (const std::size_t k : order) {
      if (firsts.empty() || !std::equal(context(k), context(k) + distances_, context(firsts.back())))
        firsts.push_back(k);
      context_of[k] = firsts.size() - 1;
    }
    std::vector<float> predictions(firsts.size() * width());
    std::vector<std::uint64_t> codes(firsts.size());
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      predict_into(context(firsts[i]), predictions.data() + i * width());
      codes[i] = cache.code(context(firsts[i]));
    }
    for (std::size_t k = 0; k < count; ++k) {
      std::size_t position, group;
      const std::size_t i = context_of[k];
      out[k] = MINUS_INFINITY;
      if (!find(words[k], &position, &group)) continue;
      out[k] = score_row(output_, biases_, position, predictions.data() + i * width());
      if (const double* found = cache.find(context(k), codes[i], static_cast<std::int32_t>(group + 2))) {
        out[k] += *found;
      } else {
        queries.push_back({k, i, position, group});
      }
    }
    if (queries.empty()) return;
    const std::vector<double> class_sums = sums_of_classes(queries, contexts, firsts, codes, predictions, cache);
    std::sort(queries.begin(), queries.end(), [](const Query& a, const Query& b) {
      return std::make_pair(a.group, a.context) < std::make_pair(b.group, b.context);
    });
    add_normalisers(queries, contexts, firsts, codes, predictions, class_sums, out, cache);
  }

  std::vector<double> sums_of_classes(const std::vector<Query>& queries, const WordId* contexts,
                                      const std::vector<std::size_t>& firsts, const std::vector<std::uint64_t>& codes,
                                      const std::vector<float>& predictions, SumCache& cache) const {
    std::vector<double> sums(firsts.size(), 0.0);
    if (!class_biases_.size) return sums;
    std::vector<char> is_asked(firsts.size(), 0);
    for (const Query& query : queries) is_asked[query.context] = 1;
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (!is_asked[i]) continue;
      if (const double* found = cache.find(contexts + firsts[i] * distances_, codes[i], SumCache::ALL_CLASSES)) {
        sums[i] = *found;
      } else {
        missing.push_back(i);
      }
    }
    std::vector<float> block(FOUR * width());
    for (std::size_t at = 0; at < missing.size(); at += FOUR) {
      const std::size_t size = std::min(FOUR, missing.size() - at);
      double found[FOUR];
      for (std::size_t i = 0; i < size; ++i) {
        std::copy_n(predictions.data() + missing[at + i] * width(), width(), block.data() + i * width());
      }
      log_sums(classes_, class_biases_, 0, class_biases_.size, block.data(), size, found, cache);
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t which = missing[at + i];
        sums[which] = found[i];
        cache.store(contexts + firsts[which] * distances_, codes[which], SumCache::ALL_CLASSES, found[i]);
      }
    }
    return sums;
  }

  // Queries are sorted by class, then by context.
  void add_normalisers(const std::vector<Query>& queries, const WordId* contexts,
                       const std::vector<std::size_t>& firsts, const std::vector<std::uint64_t>& codes,
                       const std::vector<float>& predictions, const std::vector<double>& class_sums, double* out,
                       SumCache& cache) const {
    std::vector<float> block(FOUR * width());
    for (std::size_t at = 0; at < queries.size();) {
      const std::size_t group = queries[at].group;
      std::size_t blocked[FOUR], size = 0, end = at;  // contexts of the block, and where its queries end
      for (; end < queries.size() && queries[end].group == group; ++end) {
        if (size && blocked[size - 1] == queries[end].context) continue;
        if (size == FOUR) break;
        blocked[size] = queries[end].context;
        std::copy_n(predictions.data() + blocked[size] * width(), width(), block.data() + size * width());
        ++size;
      }
      double sums[FOUR], values[FOUR];
      const auto [first, last] = range(group);
      log_sums(output_, biases_, first, last, block.data(), size, sums, cache);
      for (std::size_t i = 0; i < size; ++i) {
        values[i] = full_normaliser(block.data() + i * width(), group, class_sums[blocked[i]], sums[i], cache);
        const WordId* context = contexts + firsts[blocked[i]] * distances_;
        cache.store(context, codes[blocked[i]], static_cast<std::int32_t>(group + 2), values[i]);
      }
      for (std::size_t i = 0; at < end; ++at) {
        while (blocked[i] != queries[at].context) ++i;
        out[queries[at].number] += values[i];
      }
    }
  }

  Kernels kernels_;
  std::size_t distances_, vocabulary_;
  Table context_, output_, classes_;
  View<float> diagonals_, biases_, class_biases_;
  View<std::int32_t> position_of_, class_of_, unknown_;
  View<std::int64_t> starts_;
};

// ------------------------------------------------------------------------------------------------ models

enum class Type : std::uint32_t { NGRAMS = 1, LOG_BILINEAR = 2, MIXTURE = 3 };
enum Sorting : std::uint32_t { ALL_ALIKE = 0, LAST_WORD = 1, SORTED_BY = 2 };  // SORTED_BY + k: by the component k

// One of the models of a file. A mixture has components; the others have a part in states or caches.
struct Part {
  Type type = Type::NGRAMS;
  std::uint32_t parent = 0, sorting = ALL_ALIKE;
  std::size_t order = 0;
  std::vector<std::size_t> components;
  std::vector<View<std::int32_t>> ids;  // from the ids of the file to its own, one after the other
  View<std::int64_t> counts;            // by its own ids
  View<double> weights;                 // (buckets, components)
  std::unique_ptr<Ngrams> ngrams;
  std::unique_ptr<LogBilinear> logbilinear;
  std::size_t place = 0;  // of its node in a state, or of its cache
};

inline std::uint64_t next_model_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace detail

class Model;

// What the next word depends on: a few whole numbers, which can be copied, compared and hashed. Equal states of a model
// have the same future.
class State {
 public:
  State() = default;
  explicit State(std::size_t size) : size_(size) {
    if (size > INLINE) more_ = std::make_unique<std::int32_t[]>(size);
  }
  State(const State& other) : State(other.size_) { std::copy_n(other.data(), size_, data()); }
  State(State&& other) noexcept
      : size_(std::exchange(other.size_, 0)), few_(other.few_), more_(std::move(other.more_)) {}
  State& operator=(const State& other) {
    if (this != &other) {
      if (size_ != other.size_) *this = State(other.size_);
      std::copy_n(other.data(), size_, data());
    }
    return *this;
  }
  State& operator=(State&& other) noexcept {
    if (this != &other) {
      size_ = std::exchange(other.size_, 0);
      few_ = other.few_;
      more_ = std::move(other.more_);
    }
    return *this;
  }
  ~State() = default;

  std::size_t size() const { return size_; }
  const std::int32_t* data() const { return more_ ? more_.get() : few_.data(); }
  std::int32_t* data() { return more_ ? more_.get() : few_.data(); }

  friend bool operator==(const State& a, const State& b) {
    return a.size_ == b.size_ && std::equal(a.data(), a.data() + a.size_, b.data());
  }
  friend bool operator!=(const State& a, const State& b) { return !(a == b); }
  friend bool operator<(const State& a, const State& b) {
    return std::lexicographical_compare(a.data(), a.data() + a.size_, b.data(), b.data() + b.size_);
  }

  std::size_t hash() const {
    std::uint64_t code = size_;
    for (std::size_t k = 0; k < size_; ++k) {
      code = (code ^ static_cast<std::uint32_t>(data()[k])) * 0x9E3779B97F4A7C15u;
      code ^= code >> 32;
    }
    return static_cast<std::size_t>(code);
  }

 private:
  static constexpr std::size_t INLINE = 12;
  std::size_t size_ = 0;
  std::array<std::int32_t, INLINE> few_ = {};
  std::unique_ptr<std::int32_t[]> more_;
};

// ln p of a word, and the state after it.
struct Scored {
  double logprob;
  State state;
};

// What one thread remembers of its queries to one model. Its size is fixed; results do not depend on it.
class Cache {
 public:
  explicit Cache(const Model& model, double megabytes = 32.0);

 private:
  friend class Model;
  std::uint64_t model_;  // which cannot be another one
  std::vector<detail::SumCache> sums_;
  std::vector<WordId> context_;
};

// A model of a compiled file. All methods are const; any number of threads may call them, each with its own cache.
class Model {
 public:
  // Maps a file. Whoever replaces it must write a new file and rename it, not change or cut this one.
  explicit Model(const std::string& path) : Model(std::make_unique<detail::Bytes>(path), path) {}

  // A compiled file in memory, which must be aligned to 16 bytes and outlive the model.
  Model(const void* data, std::size_t size) : Model(std::make_unique<detail::Bytes>(data, size), "memory") {}

  // ---------------------------------------------------------------------------------------------- words

  // n: a word depends on at most n - 1 words before it.
  std::size_t order() const { return parts_[0].order; }

  // The number of words that are predicted; ids are below.
  std::size_t vocabulary_size() const { return vocabulary_; }

  // With words beyond the vocabulary that were listed when the file was written: they are predicted as UNKNOWN, and
  // contexts see them composed of their morphemes. Ids of words are below this.
  std::size_t words() const { return words_->size(); }

  // The id of a word; UNKNOWN if the file does not have it.
  WordId id(std::string_view word) const { return words_->id(word); }

  // The word of an id; empty for what is no id.
  std::string_view word(WordId id) const {
    return is_word(id) ? words_->word(static_cast<std::size_t>(id)) : std::string_view();
  }
  const char* c_string(WordId id) const { return is_word(id) ? words_->c_string(static_cast<std::size_t>(id)) : ""; }

  // ---------------------------------------------------------------------------------------------- states

  // After <s>.
  State begin() const {
    return state_of([this](std::int32_t* state) { write_begin(state); });
  }

  // Where nothing is known of the words before.
  State null_context() const {
    return state_of([this](std::int32_t* state) { write_null_context(state); });
  }

  // After some words, the nearest first. <s> stands for all before it; without it, nothing is known beyond them.
  State state_after(const WordId* context, std::size_t length) const {
    return state_of([&](std::int32_t* state) { write_state_after(context, length, state); });
  }

  // The same for decoders that keep states in memory of their own: `state_size` numbers each.
  std::size_t state_size() const { return state_size_; }
  void write_begin(std::int32_t* state) const {
    std::fill_n(state, history_, BEGIN);
    for (std::size_t k = 0; k < ngrams_.size(); ++k) state[history_ + k] = ngrams_[k]->begin();
  }
  void write_null_context(std::int32_t* state) const {
    std::fill_n(state, history_, NOTHING);
    std::fill_n(state + history_, ngrams_.size(), detail::Ngrams::ROOT);
  }
  void write_state_after(const WordId* context, std::size_t length, std::int32_t* state) const {
    length = std::min(length, std::max(order() - 1, history_));
    std::size_t known = 0;
    while (known < length && context[known] != BEGIN && context[known] != NOTHING) ++known;
    if (known < length && context[known] == BEGIN) {
      write_begin(state);
    } else {
      write_null_context(state);
    }
    for (std::size_t k = known; k-- > 0;) {
      const WordId word = is_word(context[k]) ? context[k] : UNKNOWN;
      push(word, state);
      for (const detail::Part& part : parts_) {
        if (!part.ngrams) continue;
        std::int32_t& node = state[history_ + part.place];
        part.ngrams->score(node, own_id(part, known_id(word)), &node);
      }
    }
  }

  // ---------------------------------------------------------------------------------------------- scores

  // ln p(word | state), natural, and the state after it. What is no id counts as UNKNOWN; BEGIN has no probability.
  Scored logprob(const State& state, WordId word, Cache& cache) const {
    check_state(state);
    Scored scored{0.0, State(state_size_)};
    scored.logprob = advance(state.data(), word, scored.state.data(), cache);
    return scored;
  }
  Scored logprob(const State& state, std::string_view word, Cache& cache) const {
    return logprob(state, id(word), cache);
  }

  // The same with states in memory of the caller's; `next` may be null, or the same as `state`.
  double advance(const std::int32_t* state, WordId word, std::int32_t* next, Cache& cache) const {
    check_cache(cache);
    word = is_word(word) ? word : UNKNOWN;
    std::int32_t before[detail::MOST_ORDER + detail::MOST_MODELS];
    std::copy_n(state, state_size_, before);
    const double logprob = score(parts_[0], before, known_id(word), next, cache);
    if (next) after(before, word, next);
    return logprob;
  }

  // ln p of a word after the words before it, the nearest first; as many as are known, up to n - 1.
  double logprob_after(const WordId* context, std::size_t length, WordId word, Cache& cache) const {
    std::int32_t state[detail::MOST_ORDER + detail::MOST_MODELS];
    write_state_after(context, length, state);
    return advance(state, word, nullptr, cache);
  }

  // Many words, each after its own state; `next` may be null. Faster than one by one where sums are not in the cache.
  void logprobs(const State* states, const WordId* words, std::size_t count, double* out, State* next,
                Cache& cache) const {
    std::vector<std::int32_t> before(count * state_size_), later(next ? before.size() : 0);
    for (std::size_t k = 0; k < count; ++k) {
      check_state(states[k]);
      std::copy_n(states[k].data(), state_size_, before.data() + k * state_size_);
    }
    advance_many(before.data(), words, count, out, next ? later.data() : nullptr, cache);
    for (std::size_t k = 0; next && k < count; ++k) {
      if (next[k].size() != state_size_) next[k] = State(state_size_);
      std::copy_n(later.data() + k * state_size_, state_size_, next[k].data());
    }
  }

  // The same with states in memory of the caller's, (count, state_size).
  void advance_many(const std::int32_t* states, const WordId* words, std::size_t count, double* out, std::int32_t* next,
                    Cache& cache) const {
    check_cache(cache);
    const std::vector<std::int32_t> before(states, states + count * state_size_);
    std::vector<WordId> known(count);
    for (std::size_t k = 0; k < count; ++k) known[k] = known_id(words[k]);
    score_many(parts_[0], before.data(), known.data(), count, out, next, cache);
    for (std::size_t k = 0; next && k < count; ++k) {
      after(before.data() + k * state_size_, is_word(words[k]) ? words[k] : UNKNOWN, next + k * state_size_);
    }
  }

  // p of every word of the vocabulary after a state, by id.
  std::vector<double> distribution(const State& state, Cache& cache) const {
    check_state(state);
    std::vector<double> probabilities(vocabulary_);
    write_distribution(state.data(), probabilities.data(), cache);
    return probabilities;
  }
  void write_distribution(const std::int32_t* state, double* probabilities, Cache& cache) const {
    check_cache(cache);
    distribution(parts_[0], state, probabilities, cache);
  }

  // ---------------------------------------------------------------------------------------------- checks

  // Whether the content is what was written; reads the whole file.
  bool verify() const {
    const auto digest =
        detail::Sha256::of(bytes_->data() + detail::DIGESTED_FROM, bytes_->size() - detail::DIGESTED_FROM);
    return std::memcmp(digest.data(), bytes_->data() + detail::DIGEST_AT, digest.size()) == 0;
  }

  // Scores the sentences in the file; whether they get what morphlm gave them, to 1e-4. `largest` gets the difference.
  bool self_test(double* largest = nullptr) const {
    Cache cache(*this, 1.0);
    std::vector<std::int32_t> state(state_size_);
    write_begin(state.data());
    double worst = 0.0;
    bool is_right = true;
    for (std::size_t k = 0; k < test_words_.size; ++k) {
      const double difference =
          std::fabs(advance(state.data(), test_words_[k], state.data(), cache) - test_logprobs_[k]);
      is_right = is_right && difference <= 1e-4 * (1.0 + std::fabs(test_logprobs_[k]));
      worst = difference <= worst ? worst : difference;
      if (test_words_[k] == END) write_begin(state.data());
    }
    if (largest) *largest = worst;
    return is_right;
  }

 private:
  friend class Cache;

  Model(std::unique_ptr<detail::Bytes> bytes, const std::string& name) : bytes_(std::move(bytes)) {
    try {
      const detail::Container container(*bytes_);
      vocabulary_ = container.words;
      words_ = std::make_unique<detail::Words>(container);
      test_words_ = container.get<std::int32_t>(0, "test_words", {detail::Container::ANY});
      test_logprobs_ = container.get<double>(0, "test_logprobs", {test_words_.size});
      read_parts(container);
    } catch (const Error& error) {
      throw Error(name + ": " + error.what());
    }
  }

  // ---------------------------------------------------------------------------------------------- loading

  void read_parts(const detail::Container& container) {
    constexpr std::size_t FEATURES = 8;
    const auto table = container.get<std::uint32_t>(0, "models", {container.models, FEATURES});
    parts_.resize(container.models);
    std::vector<int> levels(container.models, 0);
    for (std::uint32_t number = 0; number < container.models; ++number) {
      const std::uint32_t* row = table.data + number * FEATURES;
      detail::Part& part = parts_[number];
      detail::Container::check(row[0] >= 1 && row[0] <= 3 && row[2] >= 1 && row[2] <= detail::MOST_ORDER, "a model");
      part.type = static_cast<detail::Type>(row[0]);
      part.parent = row[1];
      part.order = row[2];
      part.sorting = row[3];
      if (number) {
        detail::Container::check(part.parent < number && parts_[part.parent].type == detail::Type::MIXTURE,
                                 "a component");
        levels[number] = levels[part.parent] + 1;
        detail::Container::check(levels[number] <= detail::MOST_LEVELS, "the number of levels");
        parts_[part.parent].components.push_back(number);
        part.ids = parts_[part.parent].ids;
        part.counts = parts_[part.parent].counts;
      }
      read_part(container, number, part);
    }
    for (detail::Part& part : parts_) finish(part);
    state_size_ = history_ + ngrams_.size();
  }

  void read_part(const detail::Container& container, std::uint32_t number, detail::Part& part) {
    if (number && container.has(number, "ids"))
      part.ids.push_back(container.get<std::int32_t>(number, "ids", {vocabulary_}));
    if (number == 0 || container.has(number, "counts"))
      part.counts = container.get<std::int64_t>(number, "counts", {vocabulary_});
    if (part.type == detail::Type::NGRAMS) {
      part.ngrams = std::make_unique<detail::Ngrams>(container, number, part.order);
      part.place = ngrams_.size();
      ngrams_.push_back(part.ngrams.get());
    } else if (part.type == detail::Type::LOG_BILINEAR) {
      part.logbilinear = std::make_unique<detail::LogBilinear>(container, number, part.order);
      part.place = logbilinear_.size();
      logbilinear_.push_back(part.logbilinear.get());
      history_ = std::max(history_, part.order - 1);
    } else {
      const std::size_t components = container.section(number, "weights").shape.back();
      part.weights = container.get<double>(number, "weights", {detail::Container::ANY, components});
      if (part.sorting == detail::LAST_WORD) history_ = std::max<std::size_t>(history_, 1);
    }
  }

  // What can be checked when all components are known.
  void finish(detail::Part& part) {
    std::size_t longest = part.order;
    if (part.type == detail::Type::MIXTURE) {
      const std::size_t components = part.components.size();
      detail::Container::check(components && part.weights.size && part.weights.size % components == 0, "the weights");
      if (part.sorting >= detail::SORTED_BY) {
        const std::size_t sorting = part.sorting - detail::SORTED_BY;
        detail::Container::check(sorting < components && sorts(parts_[part.components[sorting]]),
                                 "what sorts contexts");
      }
      for (const std::size_t number : part.components) longest = std::max(longest, parts_[number].order);
    }
    detail::Container::check(longest == part.order, "the order of a mixture");
  }

  static bool sorts(const detail::Part& part) {
    return part.type == detail::Type::MIXTURE || (part.ngrams && part.ngrams->sorts_contexts());
  }

  // ---------------------------------------------------------------------------------------------- words and states

  bool is_word(WordId id) const { return id >= 0 && static_cast<std::size_t>(id) < words_->size(); }
  WordId known_id(WordId id) const { return id >= 0 && static_cast<std::size_t>(id) < vocabulary_ ? id : UNKNOWN; }

  WordId own_id(const detail::Part& part, WordId known) const {
    for (const auto& ids : part.ids) known = known_id(ids[static_cast<std::size_t>(known)]);
    return known;
  }

  template <class F>
  State state_of(F write) const {
    State state(state_size_);
    write(state.data());
    return state;
  }

  // A word becomes the nearest of the history. A sentence begins after BEGIN.
  void push(WordId word, std::int32_t* state) const {
    if (word == BEGIN) {
      std::fill_n(state, history_, BEGIN);
    } else if (history_) {
      std::copy_backward(state, state + history_ - 1, state + history_);
      state[0] = word;
    }
  }

  // The history after a word; the nodes are there already.
  void after(const std::int32_t* state, WordId word, std::int32_t* next) const {
    std::copy_n(state, history_, next);
    push(word, next);
  }

  void check_state(const State& state) const {
    if (state.size() != state_size_) throw Error("this state is of another model");
  }
  void check_cache(const Cache& cache) const {
    if (cache.model_ != number_) throw Error("this cache is of another model");
  }

  // What a log-bilinear model sees of the history, by its own ids.
  void write_context(const detail::Part& part, const std::int32_t* state, WordId* context) const {
    for (std::size_t j = 0; j < part.logbilinear->distances(); ++j) context[j] = own_context_id(part, state[j]);
  }
  WordId own_context_id(const detail::Part& part, WordId word) const {
    if (word < 0) return NOTHING;
    if (static_cast<std::size_t>(word) < vocabulary_) return part.ids.empty() ? word : own_id(part, word);
    return static_cast<std::size_t>(word) < part.logbilinear->context_words() ? word : own_id(part, UNKNOWN);
  }

  // ---------------------------------------------------------------------------------------------- scores

  double score(const detail::Part& part, const std::int32_t* state, WordId word, std::int32_t* next,
               Cache& cache) const {
    if (part.ngrams) {
      const std::size_t place = history_ + part.place;
      return part.ngrams->score(state[place], own_id(part, word), next ? next + place : nullptr);
    }
    if (part.logbilinear) {
      write_context(part, state, cache.context_.data());
      return part.logbilinear->score(cache.context_.data(), own_id(part, word), cache.sums_[part.place]);
    }
    double logprobs[detail::MOST_MODELS];
    for (std::size_t k = 0; k < part.components.size(); ++k) {
      logprobs[k] = score(parts_[part.components[k]], state, word, next, cache);
    }
    return mixed(part, state, logprobs, 1);
  }

  void score_many(const detail::Part& part, const std::int32_t* states, const WordId* words, std::size_t count,
                  double* out, std::int32_t* next, Cache& cache) const {
    if (part.ngrams) {
      for (std::size_t k = 0; k < count; ++k) {
        out[k] = score(part, states + k * state_size_, words[k], next ? next + k * state_size_ : nullptr, cache);
      }
    } else if (part.logbilinear) {
      const std::size_t distances = part.logbilinear->distances();
      std::vector<WordId> contexts(count * distances), own(count);
      for (std::size_t k = 0; k < count; ++k) {
        write_context(part, states + k * state_size_, contexts.data() + k * distances);
        own[k] = own_id(part, words[k]);
      }
      part.logbilinear->score_many(contexts.data(), own.data(), count, out, cache.sums_[part.place]);
    } else {
      std::vector<double> logprobs(count * part.components.size());  // (components, count)
      for (std::size_t k = 0; k < part.components.size(); ++k) {
        score_many(parts_[part.components[k]], states, words, count, logprobs.data() + k * count, next, cache);
      }
      for (std::size_t k = 0; k < count; ++k)
        out[k] = mixed(part, states + k * state_size_, logprobs.data() + k, count);
    }
  }

  // ln sum_m lambda_m p_m; the logarithm of p_m is at logprobs[m * stride].
  double mixed(const detail::Part& part, const std::int32_t* state, const double* logprobs, std::size_t stride) const {
    const double* weights = weights_after(part, state);
    double most = detail::MINUS_INFINITY, total = 0.0;
    for (std::size_t k = 0; k < part.components.size(); ++k) {
      if (weights[k] > 0 && logprobs[k * stride] > most) most = logprobs[k * stride];
    }
    if (most == detail::MINUS_INFINITY) return most;
    for (std::size_t k = 0; k < part.components.size(); ++k) {
      if (weights[k] > 0) total += weights[k] * std::exp(logprobs[k * stride] - most);
    }
    return most + std::log(total);
  }

  const double* weights_after(const detail::Part& part, const std::int32_t* state) const {
    const std::size_t bucket = bucket_of(part, state), components = part.components.size();
    return part.weights.data + (bucket < part.weights.size / components ? bucket : 0) * components;
  }

  std::size_t bucket_of(const detail::Part& part, const std::int32_t* state) const {
    if (part.ngrams) return part.ngrams->bucket(state[history_ + part.place]);
    if (part.sorting == detail::ALL_ALIKE) return 0;
    if (part.sorting >= detail::SORTED_BY)
      return bucket_of(parts_[part.components[part.sorting - detail::SORTED_BY]], state);
    const WordId last = own_id(part, known_id(state[0]));
    const std::int64_t count = part.counts[static_cast<std::size_t>(last == END ? BEGIN : last)];
    std::size_t bucket = 0;  // by powers of two
    while (bucket < 15 && count >= (std::int64_t{2} << bucket)) ++bucket;
    return bucket;
  }

  void distribution(const detail::Part& part, const std::int32_t* state, double* out, Cache& cache) const {
    if (part.ngrams) {
      part.ngrams->distribution(state[history_ + part.place], out);
    } else if (part.logbilinear) {
      write_context(part, state, cache.context_.data());
      part.logbilinear->distribution(cache.context_.data(), out, cache.sums_[part.place]);
    } else {
      const double* weights = weights_after(part, state);
      std::vector<double> own(vocabulary_);
      std::fill_n(out, vocabulary_, 0.0);
      for (std::size_t k = 0; k < part.components.size(); ++k) {
        const detail::Part& component = parts_[part.components[k]];
        distribution(component, state, own.data(), cache);
        const bool has_ids = component.ids.size() > part.ids.size();
        for (std::size_t word = 0; word < vocabulary_; ++word) {
          const std::size_t at = has_ids ? static_cast<std::size_t>(known_id(component.ids.back()[word])) : word;
          out[word] += weights[k] * own[at];
        }
      }
    }
  }

  std::unique_ptr<detail::Bytes> bytes_;
  std::uint64_t number_ = detail::next_model_number();
  std::unique_ptr<detail::Words> words_;
  std::vector<detail::Part> parts_;
  std::vector<const detail::Ngrams*> ngrams_;
  std::vector<const detail::LogBilinear*> logbilinear_;
  std::size_t vocabulary_ = 0;
  std::size_t history_ = 0;     // words in a state; the nodes of n-gram models follow
  std::size_t state_size_ = 0;  // numbers in a state
  detail::View<std::int32_t> test_words_;
  detail::View<double> test_logprobs_;
};

inline Cache::Cache(const Model& model, double megabytes) : model_(model.number_), context_(detail::MOST_ORDER) {
  if (!(megabytes >= 0.0 && megabytes <= 1e7)) throw Error("a cache has 0 to 10,000,000 MB");
  const double share = megabytes * 1048576.0 / static_cast<double>(std::max<std::size_t>(model.logbilinear_.size(), 1));
  for (const detail::LogBilinear* part : model.logbilinear_)
    sums_.emplace_back(part->distances(), part->width(), share);
}

#undef MORPHLM_INLINE
#undef MORPHLM_UNROLL

}  // namespace morphlm

template <>
struct std::hash<morphlm::State> {
  std::size_t operator()(const morphlm::State& state) const noexcept { return state.hash(); }
};

#endif  // MORPHLM_HPP
