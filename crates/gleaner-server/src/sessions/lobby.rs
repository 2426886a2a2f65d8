//! Where agents wait that have not proven yet who they are: so many at once, and so many of one address.

use crate::app::App;
use gleaner_wire::limits::{GREETINGS_MAX, GREETINGS_PER_ADDRESS_MAX};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

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
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = inside.by_address.get(&address).copied().unwrap_or(0);
        if inside.all >= GREETINGS_MAX || of_address >= GREETINGS_PER_ADDRESS_MAX {
            return None;
        }
        inside.all += 1;
        inside.by_address.insert(address, of_address + 1);
        Some(Place { lobby: Arc::clone(self), address })
    }

    fn leave(&self, address: IpAddr) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.all -= 1;
        let left = inside.by_address.remove(&address).unwrap_or(0).saturating_sub(1);
        if left > 0 {
            inside.by_address.insert(address, left);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lobby.leave(self.address);
    }
}
