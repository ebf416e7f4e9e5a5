#include "device_pool.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "switches.h"

namespace devicepool {
namespace {

constexpr bool kKeyed = DEVICEPOOL_KEYED;

struct Counters {
    std::atomic<long> hits{0}, misses{0}, bypassed{0};
    std::atomic<long> live{0};  // handed out and not returned

    Counters() { GetSwitches(); }  // before main: a bad value is refused before the first case
    ~Counters() {
        if (!GetSwitches().stats) return;
        std::fprintf(stderr, "[devicepool] hits=%ld misses=%ld bypassed=%ld live=%ld\n", hits.load(), misses.load(),
                     bypassed.load(), live.load());
    }
} counters;

// The blind build knows one cap, whatever the device.
constexpr std::size_t kBlindCap = std::size_t{8} << 20;

// In the order of DeviceType.
constexpr std::array<std::size_t, 2> kResidencyCaps{std::size_t{2} << 20, std::size_t{8} << 20};

enum class Role : unsigned char { kMain, kAux };

struct Pools {
    std::mutex mutex;
    std::map<std::pair<const Backend*, Role>, std::unique_ptr<DevicePool>> table;
    std::vector<std::unique_ptr<DevicePool>> retired;  // late buffers still go back to them
};

// Never destroyed: a buffer of static lifetime must still find its pool at exit.
Pools& AllPools() {
    static auto* pools = new Pools;
    return *pools;
}

DevicePool& FindPool(Backend& backend, Role role) {
    Pools& pools = AllPools();
    // THE FAULT, in the blind build: all devices find the same pool, and nothing below asks whose block it is.
    const Backend* key = kKeyed ? &backend : nullptr;
    const std::lock_guard lock(pools.mutex);
    std::unique_ptr<DevicePool>& pool = pools.table[{key, role}];
    if (pool == nullptr) pool = std::make_unique<DevicePool>(backend);
    return *pool;
}

// The last answer of Pool() on this thread: on the hit path a lookup is one pointer compare.
struct Memo {
    const Backend* backend = nullptr;
    DevicePool* pool = nullptr;
};
thread_local Memo memo;
thread_local ActivePoolScope* innermost_scope = nullptr;

// Whether a block that came back can be handed out again.
bool KeepsReleased() { return !GetSwitches().bypass && !GetSwitches().quarantine; }

std::string Describe(const Backend& backend) {
    return (backend.type() == DeviceType::kHost ? "host:" : "gpu:") + std::to_string(backend.index());
}

}  // namespace

std::size_t SizeClass(std::size_t bytes) {
    constexpr int kKeptBits = 5;
    std::size_t step = 1;
    while ((bytes / step) >> kKeptBits != 0) step *= 2;
    // Checked under EXACT as well: a size is refused in every lane or in none.
    if (bytes > std::numeric_limits<std::size_t>::max() - (step - 1)) throw PoolError("size too large to round");
    if (GetSwitches().exact) return bytes;
    return (bytes + step - 1) / step * step;
}

std::size_t ResidencyCap(DeviceType type) {
    const auto index = static_cast<std::size_t>(type);
    if (index >= kResidencyCaps.size()) {
        throw PoolError("device type " + std::to_string(index) + " has no residency cap");
    }
    return kResidencyCaps[index];
}

DevicePool::DevicePool(Backend& backend)
    : backend_(kKeyed ? &backend : nullptr), cap_(kKeyed ? ResidencyCap(backend.type()) : kBlindCap) {}

DevicePool::~DevicePool() {
    FreeAll();
    if (decode_input_.address != nullptr) GiveBack(decode_input_);
}

void* DevicePool::Acquire(Backend& backend, std::size_t bytes) {
    Verify(backend);
    const std::size_t rounded = SizeClass(bytes);
    const std::lock_guard lock(mutex_);
    Block block{};
    if (!TakeFree(rounded, block)) block = Allocate(backend, rounded);
    in_use_.emplace(block.address, block);
    ++counters.live;
    Prepare(block);
    return block.address;
}

void DevicePool::Release(Backend& backend, void* address) {
    Verify(backend);
    const std::lock_guard lock(mutex_);
    const auto node = in_use_.extract(address);
    if (node.empty()) throw PoolError("the block was not handed out by this pool, or came back twice");
    --counters.live;
    const Block& block = node.mapped();
    if (!KeepsReleased() || block.bytes > cap_ - free_bytes_) return GiveBack(block);
    free_bytes_ += block.bytes;
    free_[block.bytes].push_back(block);
}

// In the keyed build the persistent buffer is per device because the pool is. In the blind build one buffer serves all
// devices: the same fault once more, though no test here decodes on two devices.
void* DevicePool::DecodeInput(Backend& backend, std::size_t bytes) {
    Verify(backend);
    const std::size_t rounded = SizeClass(bytes);
    const std::lock_guard lock(mutex_);
    if (KeepsReleased() && decode_input_.address != nullptr && decode_input_.bytes >= rounded) {
        ++counters.hits;
    } else {
        const Block grown = Allocate(backend, rounded);
        if (decode_input_.address != nullptr) GiveBack(decode_input_);
        decode_input_ = grown;
    }
    Prepare(decode_input_);
    return decode_input_.address;
}

void DevicePool::Drain(Backend& backend) {
    Verify(backend);
    const std::lock_guard lock(mutex_);
    FreeAll();
}

std::size_t DevicePool::free_bytes() const {
    const std::lock_guard lock(mutex_);
    return free_bytes_;
}

void DevicePool::Verify(const Backend& backend) const {
    if (Serves(backend)) return;
    throw PoolError("the pool of " + Describe(*backend_) + " was used with " + Describe(backend));
}

DevicePool::Block DevicePool::Allocate(Backend& backend, std::size_t bytes) {
    ++(GetSwitches().bypass ? counters.bypassed : counters.misses);
    return {backend.Alloc(bytes), &backend, bytes};
}

void DevicePool::Prepare(const Block& block) {
    // The maker fills, so that the fill itself is right even for a block that should not be here.
    if (const auto poison = GetSwitches().poison) block.maker->Fill(block.address, *poison, block.bytes);
    // A device's fill may wait for its kernels: there the pad stays as it was when the block was made.
    if (!GetSwitches().pad || block.maker->type() != DeviceType::kHost) return;
    block.maker->Fill(static_cast<char*>(block.address) + block.bytes, 0, kPadBytes);
}

void DevicePool::GiveBack(const Block& block) {
    if (GetSwitches().quarantine) return block.maker->Quarantine(block.address);
    block.maker->Free(block.address);
}

bool DevicePool::TakeFree(std::size_t bytes, Block& block) {
    const auto list = free_.find(bytes);
    if (list == free_.end() || list->second.empty()) return false;
    block = list->second.back();
    list->second.pop_back();
    free_bytes_ -= bytes;
    ++counters.hits;
    return true;
}

void DevicePool::FreeAll() {
    for (const auto& [bytes, blocks] : free_) {
        for (const Block& block : blocks) block.maker->Free(block.address);
    }
    free_.clear();
    free_bytes_ = 0;
}

DevicePool& Pool(Backend& backend) {
    if (memo.backend == &backend) return *memo.pool;
    ActivePoolScope* scope = innermost_scope;
    while (scope != nullptr && !scope->pool_.Serves(backend)) scope = scope->outer_;
    DevicePool& pool = scope != nullptr ? scope->pool_ : FindPool(backend, Role::kMain);
    memo = {&backend, &pool};
    return pool;
}

DevicePool& AuxPool(Backend& backend) { return FindPool(backend, Role::kAux); }

void StartCase() {
    Pools& pools = AllPools();
    const std::lock_guard lock(pools.mutex);
    for (auto& [key, pool] : pools.table) pools.retired.push_back(std::move(pool));
    pools.table.clear();
    memo = {};  // of this thread, which is the one that doctest runs its cases on
}

ActivePoolScope::ActivePoolScope(DevicePool& pool) : pool_(pool), outer_(innermost_scope) {
    innermost_scope = this;
    memo = {};
}

ActivePoolScope::~ActivePoolScope() {
    innermost_scope = outer_;
    memo = {};
}

DBuf::DBuf(Backend& backend, std::size_t bytes)
    : backend_(backend), pool_(Pool(backend)), address_(pool_.Acquire(backend, bytes)) {}

DBuf::~DBuf() {
    if (address_ != nullptr) pool_.Release(backend_, address_);
}

std::shared_ptr<void> DBuf::ReleaseShared() {
    // The deleter may run long after this buffer and its scope are gone: it must not look the pool up again.
    return {std::exchange(address_, nullptr), [&backend = backend_, &pool = pool_](void* address) {
                if (address != nullptr) pool.Release(backend, address);
            }};
}

}  // namespace devicepool
