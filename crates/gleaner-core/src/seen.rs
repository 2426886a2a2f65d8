//! Which attributes of ads anything looks at. Machines, or tasks, whose ads differ only in others are one class.
//!
//! What is mentioned anywhere counts, whether or not anybody asks for the attribute that mentions it: so that it can be counted.
//! **Kept, not searched for**: an ad that comes or goes costs what is in it, however many others there are.

use crate::classes::WATTS;
use gleaner_classad::{ClassAd, Expr, Name, RANK, REQUIREMENTS};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What all ads so far mention, whether or not anybody asks for the attribute that does.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    /// In how many ads each name is mentioned, in lower case.
    mentioned: BTreeMap<Vec<u8>, u32>,
    /// How many ads have an expression that looks at whatever there is.
    open: u32,
    /// How many machines have an attribute of each name.
    carried: BTreeMap<Vec<u8>, u32>,
}

/// What one ad mentions.
struct Mentions {
    names: BTreeSet<Name>,
    is_open: bool,
}

impl Mentions {
    fn of(ad: &ClassAd) -> Self {
        let expressions = || ad.iter().map(|(_, expr): (_, &Expr)| expr);
        Self {
            names: expressions().flat_map(Expr::references).collect(),
            is_open: !expressions().all(Expr::is_closed),
        }
    }
}

fn count(names: &mut BTreeMap<Vec<u8>, u32>, name: &Name) {
    match names.get_mut(name.folded()) {
        Some(times) => *times += 1,
        None => drop(names.insert(name.folded().to_vec(), 1)),
    }
}

fn count_off(names: &mut BTreeMap<Vec<u8>, u32>, name: &Name) {
    let Some(times) = names.get_mut(name.folded()) else { return };
    *times -= 1;
    if *times == 0 {
        names.remove(name.folded());
    }
}

impl Seen {
    /// A class of tasks came. Whether a machine has an attribute that matters now, and did not before.
    pub fn add_task(&mut self, ad: &ClassAd) -> bool {
        self.mention(ad)
    }

    /// It is gone. Machines keep the classes that they have: these tell more than is needed.
    pub fn remove_task(&mut self, ad: &ClassAd) {
        self.forget(ad);
    }

    /// A machine came. Whether another has an attribute that matters now, and did not before.
    pub fn add_machine(&mut self, ad: &ClassAd) -> bool {
        let matters = self.mention(ad);
        for (name, _) in ad.iter() {
            count(&mut self.carried, name);
        }
        matters
    }

    /// It is gone, or says something else from now on.
    pub fn remove_machine(&mut self, ad: &ClassAd) {
        self.forget(ad);
        for (name, _) in ad.iter() {
            count_off(&mut self.carried, name);
        }
    }

    /// A policy reads an attribute of that name.
    pub fn add_name(&mut self, name: &str) {
        count(&mut self.mentioned, &Name::new(name));
    }

    fn mention(&mut self, ad: &ClassAd) -> bool {
        let Mentions { names, is_open } = Mentions::of(ad);
        let was_open = self.open > 0;
        self.open += u32::from(is_open);
        let mut matters = is_open && !was_open;
        for name in &names {
            let is_new = !self.mentioned.contains_key(name.folded());
            matters |= is_new && !was_open && self.carried.contains_key(name.folded());
            count(&mut self.mentioned, name);
        }
        matters
    }

    fn forget(&mut self, ad: &ClassAd) {
        let Mentions { names, is_open } = Mentions::of(ad);
        self.open -= u32::from(is_open);
        for name in &names {
            count_off(&mut self.mentioned, name);
        }
    }

    /// The part of an ad that matters: what is mentioned, what it asks and likes itself, and its watts. Nothing if none does.
    pub fn part_of(&self, ad: &ClassAd) -> Option<ClassAd> {
        if self.open > 0 {
            return Some(ad.clone());
        }
        let always = |name: &Name| [REQUIREMENTS, RANK, WATTS].into_iter().any(|other| name.is(other));
        let mut part = ClassAd::new();
        for (name, expr) in ad.iter() {
            if always(name) || self.mentioned.contains_key(name.folded()) {
                part.insert(name.clone(), expr.clone());
            }
        }
        (!part.is_empty()).then_some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text).expect("an ad")
    }

    fn part(seen: &Seen, text: &str) -> String {
        seen.part_of(&ad(text)).map_or(String::new(), |part| part.to_string())
    }

    #[test]
    fn what_nobody_reads_does_not_count() {
        let machines = [
            "[Name = \"a\"; Memory = Half * 2; Half = 8; Disk = 1]",
            "[Name = \"b\"; Disk = 2]",
            "[Name = \"c\"; Watts = 65]",
        ];
        let mut seen = Seen::default();
        for machine in machines {
            seen.add_machine(&ad(machine));
        }
        seen.add_task(&ad("[Id = 7; Requirements = TARGET.Memory >= MY.Need; Need = 4]"));
        let kept = machines.map(|machine| part(&seen, machine));
        assert!(kept[0].contains("Memory") && kept[0].contains("Half"), "{}", kept[0]);
        assert!(!kept[0].contains("Name") && !kept[0].contains("Disk"), "{}", kept[0]);
        assert_eq!(kept[1], "");
        assert_eq!(kept[2], "[Watts = 65]", "a score by energy looks at it");
    }

    #[test]
    fn what_reads_anything_keeps_everything() {
        let mut seen = Seen::default();
        let (machine, task) =
            ("[Name = \"a\"]", ad("[Requirements = eval(\"TARGET.\" + \"Name\") == \"a\"]"));
        assert!(seen.add_task(&task));
        assert!(part(&seen, machine).contains("Name"));
        seen.remove_task(&task);
        assert_eq!(part(&seen, machine), "");
    }

    #[test]
    fn machines_are_looked_at_again_only_for_what_one_of_them_has() {
        let mut seen = Seen::default();
        let machine = ad("[Memory = 4; Disk = 2]");
        assert!(!seen.add_machine(&machine));
        let asks = |text: &str| ad(&format!("[Requirements = {text}]"));
        for (asked, expected) in [
            ("TARGET.Nothing == 1 && TARGET.Nobody == 2", false),
            ("TARGET.memory > 1", true),
            ("TARGET.Memory > 2", false),
            ("eval(\"TARGET.Disk\") > 1", true),
            ("TARGET.Disk > 1", false),
        ] {
            assert_eq!(seen.add_task(&asks(asked)), expected, "{asked}");
        }
        seen.remove_machine(&machine);
        assert!(!seen.add_task(&asks("TARGET.Disk > 2")));
    }

    #[test]
    fn what_came_and_went_leaves_nothing() {
        let mut seen = Seen::default();
        seen.add_task(&ad("[Requirements = TARGET.Kept > 1]"));
        let before = seen.clone();
        let (task, machine) = (ad("[Rank = TARGET.A + Kept + eval(\"x\")]"), ad("[A = B; Kept = 3]"));
        seen.add_machine(&machine);
        seen.add_task(&task);
        assert_ne!(seen, before);
        seen.remove_machine(&machine);
        seen.remove_task(&task);
        assert_eq!(seen, before);
    }
}
