//! Where agents wait that have not proven yet who they are: so many at once, and so many of one address.

use crate::app::App;
use gleaner_wire::limits::{GREETINGS_MAX, GREETINGS_PER_ADDRESS_MAX};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
pub(crate) struct Lobby {
    app: Arc<App>,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    all: usize,
    by_address: BTreeMap<IpAddr, usize>,
}

/// A place in the lobby, free again when this is dropped.
pub(crate) struct Place {
    lobby: Arc<Lobby>,
    address: IpAddr,
}

impl Lobby {
    pub(crate) fn new(app: Arc<App>) -> Arc<Self> {
        Arc::new(Self { app, inside: Mutex::default() })
    }

    pub(crate) fn app(&self) -> Arc<App> {
        Arc::clone(&self.app)
    }

    /// A place for one who comes from that address; none if there is none.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        self.inside().enter(address).then(|| Place { lobby: Arc::clone(self), address })
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// Whether there is a place, which is taken then.
    fn enter(&mut self, address: IpAddr) -> bool {
        let of_address = self.by_address.get(&address).copied().unwrap_or(0);
        let has_place = self.all < GREETINGS_MAX && of_address < GREETINGS_PER_ADDRESS_MAX;
        if has_place {
            self.all += 1;
            self.by_address.insert(address, of_address + 1);
        }
        has_place
    }

    fn leave(&mut self, address: IpAddr) {
        self.all -= 1;
        let left = self.by_address.remove(&address).unwrap_or(0).saturating_sub(1);
        if left > 0 {
            self.by_address.insert(address, left);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lobby.inside().leave(self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn so_many_wait_at_an_address_and_at_all_together() {
        let mut inside = Inside::default();
        let address = |number: usize| IpAddr::V4(Ipv4Addr::from(number as u32));
        let each = GREETINGS_PER_ADDRESS_MAX;
        assert!((0..each).all(|_| inside.enter(address(0))));
        assert!(!inside.enter(address(0)), "one more of this address");
        assert!((each..GREETINGS_MAX).all(|number| inside.enter(address(number / each))));
        let late = address(GREETINGS_MAX);
        assert!(!inside.enter(late), "one more of any");
        inside.leave(address(0));
        assert!(inside.enter(late));
        assert!(!inside.enter(address(0)));
    }
}
