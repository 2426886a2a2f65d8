//! What agents say of their machines, checked before it reaches the desk: what that costs grows with what they say, and the
//! desk's thread decides for all. And what they say to have sent of a run's output.

use super::admission::{Rejection, check_expression, check_name, check_variable, refuse_if};
use gleaner_wire::api::Enrolment;
use gleaner_wire::limits::{
    MEMORY_BYTES_MAX, PROFILE_BYTES_MAX, PROFILE_ITEMS_MAX, REASON_BYTES_MAX, SLOTS_MAX, SPEED_MAX, SPEED_MIN,
};
use gleaner_wire::session::{Hello, Profile, Sample, Tail};

/// Something in which an agent says what its machine is.
pub trait Claims {
    /// What it says of it.
    fn profile(&self) -> &Profile;
}

impl Claims for Profile {
    fn profile(&self) -> &Profile {
        self
    }
}

impl Claims for Hello {
    fn profile(&self) -> &Profile {
        &self.profile
    }
}

impl Claims for Enrolment {
    fn profile(&self) -> &Profile {
        &self.profile
    }
}

/// What an agent says, where its machine can be what it says.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked<T>(T);

impl<T: Claims> Checked<T> {
    /// What is refused has no meaning, or is more than a machine needs.
    pub fn of(said: T) -> Result<Self, Rejection> {
        check_profile(said.profile())?;
        Ok(Self(said))
    }

    /// What was said.
    pub fn said(&self) -> &T {
        &self.0
    }

    /// Likewise.
    pub fn into_said(self) -> T {
        self.0
    }
}

/// A sample of numbers that a machine can have. JSON has none that is not finite: whoever reads one understands nothing of the whole
/// answer.
pub(super) fn sound(mut said: Sample) -> Sample {
    let is_share = |share: &f64| (0.0..=1.0).contains(share);
    said.load = if said.load.is_nan() { 0.0 } else { said.load.clamp(0.0, 1.0) };
    for pressure in [&mut said.cpu_pressure, &mut said.memory_pressure, &mut said.io_pressure] {
        *pressure = pressure.filter(is_share);
    }
    said.temperature = said.temperature.filter(|degrees| degrees.is_finite());
    said
}

/// The end of a stream of which so much came before. What its agent says to have sent and did not, the agent dropped.
pub(crate) fn hold_to(tail: &mut Tail, came: u64) {
    let missing = tail.offset.saturating_sub(came);
    tail.offset -= missing;
    tail.dropped = tail.dropped.saturating_add(missing);
}

/// How long the lists are that an agent sends with its profile.
pub(super) fn profile_bytes(profile: &Profile) -> usize {
    let attributes = profile.attributes.iter().map(|(name, text)| name.len() + text.len());
    profile.tags.iter().map(String::len).chain(attributes).sum()
}

/// Whether what an agent says of its machine makes sense.
fn check_profile(profile: &Profile) -> Result<(), Rejection> {
    let speeds = profile.speeds;
    // A speed of -0.0 is none: times by it would be negative.
    let is_speed = |speed: f64| speed.to_bits() == 0 || (SPEED_MIN..=SPEED_MAX).contains(&speed);
    refuse_if(!speeds.into_iter().chain(profile.cpu_on_core).all(is_speed), || {
        let on_core =
            profile.cpu_on_core.map_or_else(String::new, |speed| format!(", and {speed:?} on a core"));
        let [cpu, disk, network] = speeds;
        format!(
            "speeds are {cpu:?}, {disk:?} and {network:?}{on_core}; expected millions of operations a second, 0 or {SPEED_MIN:e} to {SPEED_MAX:e}"
        )
    })?;
    for (what, bytes) in [("memory", profile.memory), ("disk", profile.disk.unwrap_or(0))] {
        refuse_if(bytes > MEMORY_BYTES_MAX, || {
            format!("{what} is {bytes} bytes; at most {MEMORY_BYTES_MAX} are taken")
        })?;
    }
    let counts = [profile.cores, profile.slots];
    refuse_if(counts.iter().any(|count| !(1..=SLOTS_MAX).contains(count)), || {
        format!("cores and slots are {counts:?}; expected 1 to {SLOTS_MAX}")
    })?;
    // An agent that runs nobody's tasks outside the sandbox names nobody.
    if !profile.user.is_empty() {
        check_name("the agent's user", &profile.user)?;
    }
    let items = profile.tags.len().max(profile.attributes.len());
    refuse_if(items > PROFILE_ITEMS_MAX, || {
        format!("{items} tags or attributes; at most {PROFILE_ITEMS_MAX} are taken")
    })?;
    let bytes = profile_bytes(profile);
    refuse_if(bytes > PROFILE_BYTES_MAX, || {
        format!("tags and attributes have {bytes} bytes; at most {PROFILE_BYTES_MAX} are taken")
    })?;
    let (Ok(sandbox) | Err(sandbox)) = &profile.sandbox;
    refuse_if(sandbox.len() > REASON_BYTES_MAX, || {
        format!(
            "what it says of its sandbox has {} bytes; at most {REASON_BYTES_MAX} are taken",
            sandbox.len()
        )
    })?;
    profile.tags.iter().try_for_each(|tag| check_name("a tag", tag))?;
    for (name, text) in &profile.attributes {
        check_variable(name)?;
        check_expression(name, text)?;
    }
    Ok(())
}
