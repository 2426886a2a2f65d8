//! Any bytes as an ad in each of the forms: what can be read can be written in every form, matched and evaluated.
#![no_main]

use gleaner_classad::{ClassAd, CompiledAd, Context, Limits, Names, matches};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { steps: 100_000, ..Limits::default() };
    let context = Context::new().with_limits(limits);
    for ad in [ClassAd::parse(bytes), ClassAd::parse_old(bytes), ClassAd::parse_json(bytes), ClassAd::parse_xml(bytes)]
        .into_iter()
        .flatten()
    {
        assert_eq!(ClassAd::parse(ad.to_string()).as_ref(), Ok(&ad));
        let _ = (ad.to_old_string(), ad.to_json(), ad.to_xml());
        let ready = CompiledAd::new(&ad, &mut Names::new());
        assert_eq!(ready.accepts(&ready, &context), matches(&ad, &ad, &context));
    }
});
