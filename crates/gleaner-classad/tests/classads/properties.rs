//! What must always hold.

use crate::generate::{Generator, Random};
use gleaner_classad::{ClassAd, CompiledAd, Context, Expr, Limits, Names, Value, matches, rank};
use proptest::prelude::*;

fn generator(seed: u64) -> Generator {
    Generator { random: Random::new(seed) }
}

/// Where a sign stands before a number that something hangs on.
#[test]
fn a_sign_before_a_number_stays_a_sign() {
    for text in ["--0[3]", "-0[3]", "- -5[1][2]", "--1.5.a", "-(0)[3]", "!-0[3]", "-a[0]", "---1", "- 0 ?: 1"]
    {
        let expr = Expr::parse(text).expect("an expression");
        let written = expr.to_string();
        assert_eq!(Expr::parse(&written).as_ref(), Ok(&expr), "{text} was written {written}");
    }
}

/// Whether an instant's year has fewer than four digits: HTCondor, and we with it, writes them as they are and reads four
/// characters.
fn has_an_early_year(written: &str) -> bool {
    written
        .split("absTime(\"")
        .skip(1)
        .any(|instant| !instant.bytes().take(4).all(|byte| byte.is_ascii_digit()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_expression_parses_back_to_the_same(seed: u64) {
        let text = generator(seed).expr(3);
        if let Ok(expr) = Expr::parse(&text) {
            let written = expr.to_string();
            prop_assume!(!has_an_early_year(&written));
            let again = Expr::parse(&written);
            prop_assert_eq!(again.as_ref(), Ok(&expr), "{} was written {}", text, written);
        }
    }

    #[test]
    fn an_ad_parses_back_to_the_same(seed: u64) {
        if let Ok(ad) = ClassAd::parse(generator(seed).asking_ad()) {
            prop_assume!(!has_an_early_year(&ad.to_string()));
            prop_assert_eq!(&ClassAd::parse(ad.to_string()).expect("an ad"), &ad);
        }
    }

    #[test]
    fn reals_read_back_to_the_same_bits(real: f64) {
        let value = Value::Real(real);
        let again = Expr::parse(value.to_string()).expect("a real").evaluate(&Context::new());
        match again {
            Value::Real(again) => prop_assert!(again.to_bits() == real.to_bits() || again.is_nan() && real.is_nan()),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn strings_read_back_to_the_same_bytes(bytes: Vec<u8>) {
        prop_assume!(!bytes.contains(&0));
        let value = Value::string(&bytes);
        prop_assert_eq!(Expr::parse(value.to_string()).expect("a string").evaluate(&Context::new()), value);
    }

    #[test]
    fn compiled_ads_meet_as_ads_do(seed: u64) {
        let mut generator = generator(seed);
        let (mut names, context) = (Names::new(), Context::new());
        let ads: Vec<ClassAd> = (0..4).filter_map(|_| ClassAd::parse(generator.asking_ad()).ok()).collect();
        let compiled: Vec<CompiledAd> = ads.iter().map(|ad| CompiledAd::new(ad, &mut names)).collect();
        for (ad, ready) in ads.iter().zip(&compiled) {
            for (other, other_ready) in ads.iter().zip(&compiled) {
                prop_assert_eq!(ready.accepts(other_ready, &context), matches(other, ad, &context), "{} {}", ad, other);
                prop_assert_eq!(ready.rank(other_ready, &context), rank(ad, other, &context), "{} {}", ad, other);
            }
        }
    }

    #[test]
    fn nothing_panics_on_bytes(bytes: Vec<u8>) {
        never_panics(&bytes);
    }

    #[test]
    fn nothing_panics_on_pieces_of_the_language(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        never_panics(text.as_bytes());
    }
}

const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "=",
    "?",
    ":",
    "?:",
    ".",
    "a",
    "b",
    " ",
    "1",
    "-1",
    "0x",
    "1.5",
    "1e5",
    "\"x\"",
    "'y'",
    "\\",
    "\"",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "~",
    "&&",
    "||",
    "=?=",
    "is",
    "<",
    ">>",
    ">>>",
    "strcat(",
    "substr(",
    "regexps(",
    "absTime(",
    "relTime(",
    "formatTime(",
    "interval(",
    "split(",
    "eval(",
    "unparse(",
    "undefined",
    "error",
    "true",
    "//",
    "/*",
    "*/",
    "\n",
    "TARGET.",
    "MY.",
    "<c>",
    "</c>",
    "<a n=\"a\">",
    "<i>",
    "\\/Expr(",
    "é",
];

fn never_panics(bytes: &[u8]) {
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let context = Context::new().with_limits(limits);
    if let Ok(expr) = Expr::parse(bytes) {
        let value = expr.evaluate(&context);
        let _ = (value.to_string(), value.to_htcondor_string(), expr.to_string(), expr.references());
    }
    for ad in [
        ClassAd::parse(bytes),
        ClassAd::parse_old(bytes),
        ClassAd::parse_json(bytes),
        ClassAd::parse_xml(bytes),
    ]
    .into_iter()
    .flatten()
    {
        let _ = ad.to_string();
        let ready = CompiledAd::new(&ad, &mut Names::new());
        ready.accepts(&ready, &context);
        for (name, _) in ad.iter() {
            ad.evaluate(&name.to_string(), &context.clone().with_target(&ad));
        }
    }
}
