//! The critical sections that are counted separately.

/// The largest number of VNIs that a process may have.
pub const MOST_VNIS: usize = 64;

/// A critical section, or all of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The one around every call, under `global`.
    Call,
    /// The one for all shared state, under `brief-global`.
    Process,
    /// The store of requests.
    RequestPool,
    /// Reference counts of objects.
    ReferenceCounts,
    /// The rings that are read, of any VNI, under `per-object` and `lock-free`. The next
    /// three also exist only there.
    Arrivals,
    /// The matching of any context.
    Matching,
    /// The rendezvous state.
    Rendezvous,
    /// The channel to any peer.
    Channel,
    /// A VNI, by its number, which is below [`MOST_VNIS`].
    Vni(usize),
}

/// The kinds that come before the VNIs.
const KINDS: [Section; 8] = [
    Section::Call,
    Section::Process,
    Section::RequestPool,
    Section::ReferenceCounts,
    Section::Arrivals,
    Section::Matching,
    Section::Rendezvous,
    Section::Channel,
];

impl Section {
    pub(super) const COUNT: usize = KINDS.len() + MOST_VNIS;

    /// Every critical section.
    pub fn all() -> impl Iterator<Item = Section> {
        KINDS.into_iter().chain((0..MOST_VNIS).map(Section::Vni))
    }

    /// The critical section's index in a block, below `COUNT`.
    pub(super) fn index(self) -> usize {
        match self {
            Section::Call => 0,
            Section::Process => 1,
            Section::RequestPool => 2,
            Section::ReferenceCounts => 3,
            Section::Arrivals => 4,
            Section::Matching => 5,
            Section::Rendezvous => 6,
            Section::Channel => 7,
            Section::Vni(number) => KINDS.len() + number.min(MOST_VNIS - 1),
        }
    }

    /// The critical section's name in tables and in the names of variables.
    pub fn name(self) -> &'static str {
        match self {
            Section::Call => "call",
            Section::Process => "process",
            Section::RequestPool => "request_pool",
            Section::ReferenceCounts => "reference_counts",
            Section::Arrivals => "arrivals",
            Section::Matching => "matching",
            Section::Rendezvous => "rendezvous",
            Section::Channel => "channel",
            Section::Vni(_) => "vni",
        }
    }
}
