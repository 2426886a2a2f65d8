//! What holds for every ad that can be read.

use gleaner_classad::{ClassAd, CompiledAd, Context, Limits, Names, matches};

pub fn expect_sound(ad: &ClassAd) {
    let context = Context::new().with_limits(Limits { steps: 100_000, ..Limits::default() });
    assert_eq!(ClassAd::parse(ad.to_string()).as_ref(), Ok(ad));
    let ready = CompiledAd::new(ad, &mut Names::new());
    assert_eq!(ready.accepts(&ready, &context), matches(ad, ad, &context));
}
