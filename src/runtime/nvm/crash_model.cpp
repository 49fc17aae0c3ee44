// SPDX-License-Identifier: Apache-2.0
#include "crash_model.hpp"

#include <cstring>
#include <utility>

#include "weir/runtime/hash.hpp"

namespace weir::detail {
namespace {

// The image's hash is the sum of these over its words, so that it follows a change of one word.
std::uint64_t hash_word(std::uint64_t index, Word value) {
  return mix64(mix64(value + 0x9E3779B97F4A7C15u) + (2 * index + 1) * 0xD6E8FEB86659FD93u);
}

}  // namespace

CrashModel::CrashModel(std::span<const std::byte> base, bool flushes)
    : image_(Bytes{base.size()}, false), flushes_(flushes) {
  std::memcpy(image_.bytes().data(), base.data(), base.size());
  for (std::uint64_t i = 0; i < base.size() / sizeof(Word); ++i) hash_ += hash_word(i, *word(i));
}

CrashModel::Effect CrashModel::apply(const CrashEvent& event) {
  switch (event.kind) {
    case CrashEvent::Kind::store:
      return store(event);
    case CrashEvent::Kind::flush: {
      const auto it = position_.find(event.index);
      if (it == position_.end()) return Effect::same;  // clean
      const Line& line = dirty_[it->second];
      if (captured_.size() <= event.thread) captured_.resize(event.thread + std::size_t{1});
      captured_[event.thread].push_back({event.index, line.durable + line.stores.size()});
      return Effect::same;
    }
    case CrashEvent::Kind::fence:
      return fence(event.thread);
    case CrashEvent::Kind::begin:
    case CrashEvent::Kind::acknowledge:
      break;
  }
  return Effect::same;
}

CrashModel::Effect CrashModel::store(const CrashEvent& event) {
  const std::uint64_t number = event.index / kWordsPerLine;
  const auto it = position_.find(number);
  Word previous = *word(event.index);
  if (it != position_.end()) {
    const auto& stores = dirty_[it->second].stores;
    for (auto s = stores.rbegin(); s != stores.rend(); ++s)
      if (s->word == event.index) {
        previous = s->value;
        break;
      }
  }
  if (previous == event.value) return Effect::same;
  const std::uint64_t change =
      hash_word(event.index, event.value) - hash_word(event.index, previous);
  if (!flushes_) {
    *word(event.index) = event.value;
    hash_ += change;
    return Effect::replaced;
  }
  if (it == position_.end()) {
    position_.emplace(number, dirty_.size());
    newest_ = dirty_.size();
    dirty_.push_back({number, std::exchange(durable_[number], 0), {}, 0});
  } else {
    newest_ = it->second;
  }
  dirty_[newest_].stores.push_back({event.index, event.value, previous, change});
  return Effect::more;
}

CrashModel::Effect CrashModel::fence(std::uint16_t thread) {
  if (captured_.size() <= thread) return Effect::same;
  bool fewer = false;
  for (const Capture& capture : captured_[thread]) fewer |= make_durable(capture);
  captured_[thread].clear();
  return fewer ? Effect::fewer : Effect::same;
}

bool CrashModel::make_durable(const Capture& capture) {
  const auto it = position_.find(capture.line);
  if (it == position_.end()) return false;
  const std::size_t position = it->second;
  Line& line = dirty_[position];
  if (capture.stores <= line.durable) return false;
  const auto kept = static_cast<std::size_t>(capture.stores - line.durable);
  choose(position, kept);  // and never taken back
  line.choice = 0;
  line.stores.erase(line.stores.begin(), line.stores.begin() + static_cast<std::ptrdiff_t>(kept));
  line.durable = capture.stores;
  if (line.stores.empty()) {
    durable_[line.number] = line.durable;
    position_.erase(it);
    if (position + 1 < dirty_.size()) {
      line = std::move(dirty_.back());
      position_[line.number] = position;
    }
    dirty_.pop_back();
  }
  return true;
}

void CrashModel::choose(std::size_t position, std::size_t kept) {
  Line& line = dirty_[position];
  for (; line.choice < kept; ++line.choice) {
    const Store& store = line.stores[line.choice];
    *word(store.word) = store.value;
    hash_ += store.hash_change;
  }
  for (; line.choice > kept; --line.choice) {
    const Store& store = line.stores[line.choice - 1];
    *word(store.word) = store.previous;
    hash_ -= store.hash_change;
  }
}

}  // namespace weir::detail
