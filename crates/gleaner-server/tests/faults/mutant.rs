//! Mistakes that the driver, the network or an agent can be told to make, to see whether the checker notices.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mutant {
    /// Replies and messages leave before the facts are committed.
    EffectsBeforeCommit,
    /// A commit that returned is not on the disk yet.
    CommitNotSynced,
    /// Output is kept after the end that it belongs to is committed.
    OutputAfterCommit,
    /// Whatever an agent reports counts, whether or not it is awaited.
    AnyEndCounts,
    /// Agents are told a lease that the coordinator does not wait for.
    LeaseTooShort,
    /// Agents do not end their runs when the lease does.
    LeaseIgnored,
    /// Agents report checkpoints that are not stored.
    CheckpointNotStored,
    /// Agents begin from nothing, whatever there is to go on from.
    CheckpointIgnored,
    /// Agents say that a run is over as soon as it is to stop.
    EndedTooSoon,
    /// The keys of submissions get lost on their way.
    KeysLost,
    /// Nobody but the agent ends its runs with the lease, and it may be stopped.
    LeaseKeptByTheAgentAlone,
    /// Runs of a past that is no more are taken for those that have their numbers now.
    PastsConfused,
    /// A compacted journal begins with a state that has a row less than it says.
    BaseTooOld,
    /// A damaged row is taken for the journal's end.
    DamageTakenForTheEnd,
    /// What a machine could not start, or spoilt, is taken for nobody's fault.
    FailuresAreNobodys,
    /// A machine that cannot start what others do, or is outvoted, is not closed.
    BadMachineStaysOpen,
    /// Agents begin what was sent ahead before the run that it follows is over.
    BeginsAhead,
    /// Agents stop what has begun when they are asked for what has not.
    GivesBackWhatBegan,
    /// All answers are taken for the same.
    AnswersAreAlike,
}

impl Mutant {
    pub(crate) const ALL: [Self; 19] = [
        Self::BeginsAhead,
        Self::GivesBackWhatBegan,
        Self::EffectsBeforeCommit,
        Self::CommitNotSynced,
        Self::OutputAfterCommit,
        Self::AnyEndCounts,
        Self::LeaseTooShort,
        Self::LeaseIgnored,
        Self::CheckpointNotStored,
        Self::CheckpointIgnored,
        Self::EndedTooSoon,
        Self::KeysLost,
        Self::LeaseKeptByTheAgentAlone,
        Self::PastsConfused,
        Self::BaseTooOld,
        Self::DamageTakenForTheEnd,
        Self::FailuresAreNobodys,
        Self::BadMachineStaysOpen,
        Self::AnswersAreAlike,
    ];
}
