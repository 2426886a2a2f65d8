//! Which connections are open: those of strangers, who have shown no token, and those of users and agents.
//!
//! - **A stranger's place is lent**: it is lost after [`STRANGER_MAX`], and before that to whoever comes when there is no other. Then the
//!   oldest goes, of the same network where that has as many as it may, else of the network that has the most.
//! - **Who shows a token keeps the connection**, at a place that no stranger can take. Who has as many as anyone may stays a
//!   stranger with the next one.

use crate::limits::{CONNECTIONS_OF_AGENTS, CONNECTIONS_OF_USERS, STRANGER_MAX};
use crate::places::{Place, Places, Who};
use gleaner_server::limits::Share;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::future::pending;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// See the module.
pub(super) struct Connections {
    share: Share,
    strangers: Mutex<Strangers>,
    of_users: Arc<Places>,
    of_agents: Arc<Places>,
}

/// Each has a number that rises, and hears when its place is lost.
#[derive(Default)]
struct Strangers {
    all: usize,
    next: u64,
    by_network: BTreeMap<IpAddr, BTreeMap<u64, Arc<Notify>>>,
}

/// One connection, closed when its place is [lost](Self::lost); over when nobody holds it any more.
pub(crate) struct Connection {
    among: Arc<Connections>,
    network: IpAddr,
    number: u64,
    opened: Instant,
    lost: Arc<Notify>,
    kept: OnceLock<Place>,
}

impl Connections {
    /// So many of strangers.
    pub(super) fn new(share: Share) -> Arc<Self> {
        let [of_users, of_agents] = [CONNECTIONS_OF_USERS, CONNECTIONS_OF_AGENTS].map(Places::new);
        Arc::new(Self { share, strangers: Mutex::default(), of_users, of_agents })
    }

    /// A connection from that address, for which another may have to go.
    pub(super) fn open(self: &Arc<Self>, address: IpAddr) -> Connection {
        let (network, lost) = (network(address), Arc::new(Notify::new()));
        let number = self.strangers().enter(network, Arc::clone(&lost), self.share);
        Connection {
            among: Arc::clone(self),
            network,
            number,
            opened: Instant::now(),
            lost,
            kept: OnceLock::new(),
        }
    }

    fn strangers(&self) -> MutexGuard<'_, Strangers> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Whose it is turned out; whether it has a place that it keeps.
    pub(crate) fn show(&self, who: &Who) -> bool {
        if self.kept.get().is_some() {
            return true;
        }
        let places = match who {
            Who::User(_) => &self.among.of_users,
            Who::Agent(_) => &self.among.of_agents,
            Who::Joining(_) | Who::Stranger => return false,
        };
        let Some(place) = places.take(who) else { return false };
        // One that has just lost its place is closed all the same.
        let has_place = self.among.strangers().leave(self.network, self.number).is_some();
        has_place && self.kept.set(place).is_ok()
    }

    /// Waits until it has lost its place.
    pub(crate) async fn lost(&self) {
        tokio::select! {
            () = self.lost.notified() => {}
            () = sleep_until(self.opened + STRANGER_MAX) => if self.kept.get().is_some() { pending().await },
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.kept.get().is_none() {
            self.among.strangers().leave(self.network, self.number);
        }
    }
}

impl Strangers {
    fn enter(&mut self, network: IpAddr, lost: Arc<Notify>, share: Share) -> u64 {
        let own = self.by_network.get(&network).map_or(0, BTreeMap::len);
        if own >= share.each {
            self.lose_oldest_of(network);
        } else if self.all >= share.all
            && let Some(crowded) = self.crowded()
        {
            self.lose_oldest_of(crowded);
        }
        self.next += 1;
        self.all += 1;
        self.by_network.entry(network).or_default().insert(self.next, lost);
        self.next
    }

    fn lose_oldest_of(&mut self, network: IpAddr) {
        let oldest = self.by_network.get(&network).and_then(|of| of.keys().next().copied());
        if let Some(lost) = oldest.and_then(|oldest| self.leave(network, oldest)) {
            lost.notify_one();
        }
    }

    /// Where the most are; of several, where the oldest is.
    fn crowded(&self) -> Option<IpAddr> {
        let crowd = |of: &BTreeMap<u64, _>| (of.len(), Reverse(of.keys().next().copied()));
        self.by_network.iter().max_by_key(|(_, of)| crowd(of)).map(|(network, _)| *network)
    }

    /// None if it has lost its place, or keeps another.
    fn leave(&mut self, network: IpAddr, number: u64) -> Option<Arc<Notify>> {
        let of_network = self.by_network.get_mut(&network)?;
        let lost = of_network.remove(&number)?;
        if of_network.is_empty() {
            self.by_network.remove(&network);
        }
        self.all -= 1;
        Some(lost)
    }
}

/// Whoever has an IPv6 address has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::CONNECTIONS_OF_STRANGERS;
    use futures_util::FutureExt as _;
    use gleaner_units::MachineId;
    use std::net::Ipv4Addr;
    use tokio::time::timeout;

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn is_lost(connection: &Connection) -> bool {
        connection.lost().now_or_never().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_stranger_goes_of_the_network_that_has_the_most() {
        let connections = Connections::new(Share { all: 5, each: 3 });
        let many = [1, 1, 1].map(|last| connections.open(address(last)));
        let few = [2, 3].map(|last| connections.open(address(last)));
        let _fourth_of_one = connections.open(address(1));
        assert!(is_lost(&many[0]), "its network had as many as it may");
        let _more_than_all = connections.open(address(4));
        assert!(is_lost(&many[1]), "its network had the most");
        assert!(!is_lost(&many[2]) && !is_lost(&few[0]) && !is_lost(&few[1]));
        drop((many, few));
        let strangers = connections.strangers();
        assert_eq!((strangers.all, strangers.by_network.len()), (2, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_strangers_of_a_network_and_of_all_have_places() {
        let Share { all, each } = CONNECTIONS_OF_STRANGERS;
        let connections = Connections::new(CONNECTIONS_OF_STRANGERS);
        let open = |count: usize, last: u8| -> Vec<Connection> {
            (0..count).map(|_| connections.open(address(last))).collect()
        };
        let lost = |of: &[Connection]| of.iter().filter(|connection| is_lost(connection)).count();
        let one = open(each, 1);
        assert_eq!(lost(&one), 0);
        let _one_more_of_one = open(1, 1);
        assert_eq!(lost(&one), 1);
        let others = open(all - each, 2);
        assert_eq!(lost(&others), 0);
        let late = open(1, 3);
        assert_eq!(lost(&late) + lost(&others), 0, "one of the first goes");
        assert_eq!(lost(&one), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn who_shows_a_token_keeps_the_connection_and_nobody_has_more_than_their_part() {
        let connections = Connections::new(Share { all: 1, each: 1 });
        for (who, each) in [
            (Who::User("ada".to_owned()), CONNECTIONS_OF_USERS.each),
            (Who::Agent(MachineId::new(3)), CONNECTIONS_OF_AGENTS.each),
        ] {
            let shown = || {
                let connection = connections.open(address(1));
                let is_kept = connection.show(&who);
                assert_eq!(is_kept, connection.show(&who), "it stays so");
                (connection, is_kept)
            };
            let kept: Vec<_> = (0..each).map(|_| shown()).collect();
            assert!(kept.iter().all(|(_, is_kept)| *is_kept));
            let (one_more, is_kept) = shown();
            assert!(!is_kept, "{who:?}");
            let _stranger = connections.open(address(1));
            assert!(is_lost(&one_more));
            tokio::time::sleep(2 * STRANGER_MAX).await;
            assert!(!is_lost(&kept[0].0));
        }
        assert_eq!(connections.strangers().all, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_that_is_shown_when_the_place_is_lost_comes_too_late() {
        let connections = Connections::new(Share { all: 1, each: 1 });
        let (first, _second) = (connections.open(address(1)), connections.open(address(2)));
        assert!(!first.show(&Who::User("ada".to_owned())) && is_lost(&first));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_so_much_time_to_show_a_token() {
        let connections = Connections::new(Share { all: 1, each: 1 });
        let connection = connections.open(address(1));
        assert!(!connection.show(&Who::Stranger));
        assert!(timeout(STRANGER_MAX / 8 * 7, connection.lost()).await.is_err());
        assert!(timeout(STRANGER_MAX, connection.lost()).await.is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:5::6"));
        assert_ne!(of("2001:db8:1:2::4"), of("2001:db8:1:3::4"));
        assert_eq!(of("::ffff:192.0.2.1"), address(1));
    }
}
