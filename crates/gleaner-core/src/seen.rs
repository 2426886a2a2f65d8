//! Which attributes of ads anything looks at. Machines, or tasks, whose ads differ only in others are one class.

use crate::classes::WATTS;
use gleaner_classad::{ClassAd, Expr, Name, RANK, REQUIREMENTS};
use std::collections::BTreeSet;

/// The attributes that matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    /// These.
    Names(BTreeSet<Name>),
    /// Some expression looks at whatever there is.
    All,
}

impl Seen {
    /// Watts, what requirements and ranks mention, and what the attributes so mentioned mention in turn, on either side.
    /// Costs O(size of the ads), once for each round of mentions.
    pub fn in_ads(ads: &[&ClassAd]) -> Self {
        let mut names = BTreeSet::from([REQUIREMENTS, RANK, WATTS].map(Name::new));
        loop {
            let visible = || ads.iter().flat_map(|ad| ad.iter()).filter(|(name, _)| names.contains(*name));
            if !visible().all(|(_, expr)| expr.is_closed()) {
                return Self::All;
            }
            let mentioned: BTreeSet<Name> =
                visible().flat_map(|(_, expr): (_, &Expr)| expr.references()).collect();
            let before = names.len();
            names.extend(mentioned);
            if names.len() == before {
                return Self::Names(names);
            }
        }
    }

    /// Those and one more, which a policy reads.
    #[must_use]
    pub fn and(mut self, name: &str) -> Self {
        if let Self::Names(names) = &mut self {
            names.insert(Name::new(name));
        }
        self
    }

    /// The part of an ad that matters; nothing if none does.
    pub fn part_of(&self, ad: &ClassAd) -> Option<ClassAd> {
        let Self::Names(names) = self else { return Some(ad.clone()) };
        let mut part = ClassAd::new();
        for (name, expr) in ad.iter().filter(|(name, _)| names.contains(*name)) {
            part.insert(name.clone(), expr.clone());
        }
        (!part.is_empty()).then_some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(texts: &[&str]) -> Vec<String> {
        let ads: Vec<ClassAd> = texts.iter().map(|text| ClassAd::parse(text).expect("an ad")).collect();
        let seen = Seen::in_ads(&ads.iter().collect::<Vec<_>>());
        ads.iter().map(|ad| seen.part_of(ad).map_or(String::new(), |part| part.to_string())).collect()
    }

    #[test]
    fn what_nobody_reads_does_not_count() {
        let kept = parts(&[
            "[Name = \"a\"; Memory = Half * 2; Half = 8; Disk = 1]",
            "[Name = \"b\"; Disk = 2]",
            "[Name = \"c\"; Watts = 65]",
            "[Id = 7; Requirements = TARGET.Memory >= MY.Need; Need = 4]",
        ]);
        assert!(kept[0].contains("Memory") && kept[0].contains("Half"), "{}", kept[0]);
        assert!(!kept[0].contains("Name") && !kept[0].contains("Disk"), "{}", kept[0]);
        assert_eq!(kept[1], "");
        assert_eq!(kept[2], "[Watts = 65]", "a score by energy looks at it");
        assert!(kept[3].contains("Need") && !kept[3].contains("Id"), "{}", kept[3]);
    }

    #[test]
    fn what_reads_anything_keeps_everything() {
        let kept = parts(&["[Name = \"a\"]", "[Requirements = eval(\"TARGET.\" + \"Name\") == \"a\"]"]);
        assert!(kept[0].contains("Name"));
    }
}
