//! Among peers: who is lent to, what becomes of tasks that nobody can take, whether what is lent is taken back, how far a
//! task's machine is looked for, and whether a task waits for a faster one.

use super::{About, Choice, Input};

/// Whom idle machines are lent to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Favours {
    /// Whoever has waited longest.
    None,
    /// Whoever did most for us.
    #[default]
    Nof,
    /// The same, and fewer while less comes back.
    FdNof,
}

impl Choice for Favours {
    fn all() -> Vec<Self> {
        vec![Favours::None, Favours::Nof, Favours::FdNof]
    }

    fn about(&self) -> About {
        match self {
            Favours::None => About {
                name: "none",
                meaning: "An idle machine is lent to the peer that has wanted one longest.",
                reads: &[],
            },
            Favours::Nof => About {
                name: "nof",
                meaning: "An idle machine is lent to the peer to which most is owed for what it did, of equals to the one \
                          that has wanted one longest: the Network of Favours (Andrade et al.).",
                reads: &[Input::Favours],
            },
            Favours::FdNof => About {
                name: "fd-nof",
                meaning: "As nof, and fewer machines are lent as long as less than three quarters of what is done for peers \
                          comes back (after Falcão et al.).",
                reads: &[Input::Favours],
            },
        }
    }
}

/// Where a task waits that no machine can take now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overflow {
    /// On one of the site's own machines.
    #[default]
    Machines,
    /// At the peer.
    Peer,
}

impl Choice for Overflow {
    fn all() -> Vec<Self> {
        vec![Overflow::Machines, Overflow::Peer]
    }

    fn about(&self) -> About {
        match self {
            Overflow::Machines => About {
                name: "machines",
                meaning: "A task that no machine here is free for, and none of a peer's, queues on the machine of the site \
                          with the fewest tasks a core, of equals the one that would be chosen if they were free.",
                reads: &[Input::Counts],
            },
            Overflow::Peer => About {
                name: "peer",
                meaning: "A task that no machine is free for waits until one is, here or at a peer.",
                reads: &[],
            },
        }
    }
}

/// What becomes of lent machines when tasks of one's own wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recalling {
    /// One is taken back for each.
    #[default]
    WhenShort,
    /// They come back when the peer's tasks have ended.
    Never,
}

impl Choice for Recalling {
    fn all() -> Vec<Self> {
        vec![Recalling::WhenShort, Recalling::Never]
    }

    fn about(&self) -> About {
        match self {
            Recalling::WhenShort => About {
                name: "when-short",
                meaning: "For a task that no machine of the site's own is free for, a lent one is taken back, whether a peer's \
                          is free or not: the newest of whoever holds \
                          most beyond the share that its favours earn. What ran there begins anew elsewhere.",
                reads: &[],
            },
            Recalling::Never => About {
                name: "never",
                meaning: "A lent machine comes back when what the peer runs there has ended.",
                reads: &[],
            },
        }
    }
}

/// Where the machine for a task is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reach {
    /// At home first.
    #[default]
    Site,
    /// In the whole grid at once.
    Grid,
}

impl Choice for Reach {
    fn all() -> Vec<Self> {
        vec![Reach::Site, Reach::Grid]
    }

    fn about(&self) -> About {
        match self {
            Reach::Site => About {
                name: "site",
                meaning: "A machine of the site's own comes first, and a peer's only where none is free.",
                reads: &[],
            },
            Reach::Grid => About {
                name: "grid",
                meaning: "The most powerful idle machine of the whole grid comes first, whoever owns it: before a task starts \
                          at home, peers are asked for a machine that is more powerful.",
                reads: &[Input::Speeds],
            },
        }
    }
}

/// The parts that make a site a peer of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Peering {
    /// Whom idle machines are lent to.
    pub favours: Favours,
    /// Where a task waits that no machine can take now.
    pub queue: Overflow,
    /// What becomes of lent machines when tasks of one's own wait.
    pub recall: Recalling,
    /// Where the machine for a task is looked for.
    pub reach: Reach,
}
