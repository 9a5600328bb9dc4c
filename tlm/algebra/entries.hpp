// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>

#include <tlm/algebra/rules.hpp>
#include <tlm/algebra/weights.hpp>

/// Who reads which entry of the environment (see environment.hpp).
namespace tlm {

/// Stands for a layer that reads the environment.
struct AnyReader {};
/// Stands for T, as one of the layers that read the environment.
template <class T>
struct Reader {
  static constexpr AnyReader in_vain{};
};

/// The first part of T that does not find the entry that it reads among these; null if there is none.
template <class T, class... Entries>
consteval const AnyReader* reads_in_vain();

/// The same of T's parts.
template <class T, class... Entries>
consteval const AnyReader* part_reads_in_vain() {
  const AnyReader* reader = nullptr;
  if constexpr (requires(T & layer) { T::parts([](std::size_t, auto&) {}, layer); })
    T::parts(
        [&]<class Part>(std::size_t, Part&) {
          if (!reader) reader = reads_in_vain<Part, Entries...>();
        },
        imaginary<T>);
  return reader;
}

template <class T, class... Entries>
consteval const AnyReader* reads_in_vain() {
  if constexpr (requires { typename T::reads; })
    if (!(std::is_same_v<typename T::reads, Entries> || ...)) return &Reader<T>::in_vain;
  if constexpr (requires { typename T::provides; })
    return part_reads_in_vain<T, typename T::provides, Entries...>();
  else
    return part_reads_in_vain<T, Entries...>();
}

/// T and all its parts find the entries that they read among these.
template <class T, class... Entries>
inline constexpr bool finds_entries = reads_in_vain<T, Entries...>() == nullptr;

/// The condition under which all layers find what they read. A failure shows the first that does not.
template <const AnyReader* reader>
struct FindsEntries {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(
      reader == nullptr,
      "this layer reads an entry of the environment that nobody provides in its shape: a memory comes from an "
      "EncoderDecoder, a tied weight from a Tied");
};

/// There is an entry of this type among these.
template <class Entry, class... Entries>
inline constexpr bool is_provided = (std::is_same_v<std::remove_const_t<Entry>, std::remove_const_t<Entries>> || ...);

/// The entry of this type, which is there if FindsEntries; the first of several, which was provided last: what provides an
/// entry puts it before those around it.
template <class Entry, class... Entries>
Entry& read(Entries&... entries) {
  Entry* found = nullptr;
  const auto look_at = [&]<class E>(E& entry) {
    if constexpr (std::is_same_v<std::remove_const_t<E>, std::remove_const_t<Entry>>)
      if (!found) found = &entry;
  };
  (look_at(entries), ...);
  return *found;
}

/// action(entry…) with the entries that T takes: all if T is made of other layers, which pass them on; the one that it
/// reads if T is a leaf that reads one; the one that it may read if there is one; otherwise none.
template <class T, class Action, class... Entries>
auto with_entries(const Action& action, Entries&... entries) {
  [[maybe_unused]] const auto with = [&]<class Entry>(const Entry*) {
    constexpr bool constant = (std::is_const_v<Entries> || ...);
    return action(read<std::conditional_t<constant, const Entry, Entry>>(entries...));
  };
  if constexpr (Formula<T>)
    return action(entries...);
  else if constexpr (requires { typename T::reads; })
    return with(static_cast<const typename T::reads*>(nullptr));
  else if constexpr (requires { requires is_provided<typename T::may_read, Entries...>; })
    return with(static_cast<const typename T::may_read*>(nullptr));
  else
    return action();
}

}  // namespace tlm
