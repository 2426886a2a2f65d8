//! Whatever the input, there is an answer, soon, and the stack holds: in a debug build and on a thread of 2 MiB too.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use gleaner_classad::{Budget, ClassAd, CompiledAd, Context, Expr, Limits, Names, Problem, Value, matches};

/// On a thread with the stack that threads have by default.
fn on_a_thread(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(test)
        .expect("a thread starts")
        .join()
        .expect("the test passes");
}

fn evaluate(text: &str) -> Value {
    Expr::parse(text).map_or(Value::Error, |expr| expr.evaluate(&Context::new()))
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn nesting_of_900_works_in_every_form() {
    on_a_thread(|| {
        assert_eq!(evaluate(&nested("(", "7", ")", 900)), Value::Integer(7));
        assert_eq!(evaluate(&nested("!", "true", "", 900)), Value::Boolean(true));
        assert_eq!(evaluate(&nested("(1 + ", "1", ")", 900)), Value::Integer(901));
        assert_eq!(evaluate(&nested("{", "1", "}[0]", 900)), Value::Integer(1));
        assert_eq!(evaluate(&nested("[a = ", "1", "].a", 900)), Value::Integer(1));
        assert_eq!(evaluate(&nested("true ? ", "1", " : 2", 900)), Value::Integer(1));
        assert_eq!(evaluate(&nested("ifThenElse(true, ", "1", ", 2)", 900)), Value::Integer(1));
        assert_eq!(evaluate(&format!("n{}", ".n".repeat(900))), Value::Undefined);
        let text = nested("{", "1", "}", 900);
        let expr = Expr::parse(&text).expect("900 is no more than the limit");
        assert_eq!(expr.to_string(), text);
        assert_eq!(expr, Expr::parse(expr.to_string()).expect("it parses again"));
    });
}

#[test]
fn nesting_of_100_000_is_an_error() {
    on_a_thread(|| {
        for (open, close) in [
            ("(", ")"),
            ("!", ""),
            ("- ", ""),
            ("{", "}"),
            ("[a=", "]"),
            ("f(", ")"),
            ("1?", ":1"),
            ("a[", "]"),
            ("1 ?: (", ")"),
        ] {
            let error = Expr::parse(nested(open, "1", close, 100_000)).expect_err("too deep");
            assert!(matches!(error.problem, Problem::TooDeep(1_000)), "{error}");
        }
        for chain in ["a".to_owned() + &".a".repeat(100_000), "a".to_owned() + &"[0]".repeat(100_000)] {
            assert!(matches!(Expr::parse(chain).expect_err("too deep").problem, Problem::TooDeep(_)));
        }
        assert!(ClassAd::parse_json(nested("{\"a\":", "1", "}", 100_000)).is_err());
        assert!(ClassAd::parse_xml(nested("<l>", "", "</l>", 100_000)).is_err());
        assert!(ClassAd::parse_xml(nested("<c><a n=\"a\">", "<i>1</i>", "</a></c>", 100_000)).is_err());
    });
}

#[test]
fn chains_of_900_references_work_and_longer_ones_end() {
    on_a_thread(|| {
        let chain = |length: usize| {
            let mut text = String::from("[");
            for number in 0..length {
                let _ = write!(text, "a{number} = (1 + a{});", number + 1);
            }
            ClassAd::parse(text + &format!("a{length} = 1]")).expect("an ad")
        };
        assert_eq!(chain(900).evaluate("a0", &Context::new()), Value::Integer(901));
        assert_eq!(chain(100_000).evaluate("a0", &Context::new()), Value::Error);
    });
}

#[test]
fn two_million_elements_work() {
    on_a_thread(|| {
        let count = 2_000_000;
        let total = Value::Integer(2_000_000);
        let list = format!("{{{}1}}", "1,".repeat(count - 1));
        assert_eq!(evaluate(&format!("size({list})")), total);
        assert_eq!(evaluate(&format!("sum({list})")), total);
        let sum = format!("1{}", "+1".repeat(count - 1));
        assert_eq!(evaluate(&sum), total);
    });
}

#[test]
fn references_to_oneself_are_undefined_as_in_htcondor() {
    let cases = [
        ("[a = a]", Value::Undefined),
        ("[a = b; b = a]", Value::Undefined),
        ("[a = b + 1; b = c + 1; c = a + 1]", Value::Undefined),
        ("[a = isUndefined(a)]", Value::Boolean(true)),
        ("[a = (a ?: 5)]", Value::Integer(5)),
        ("[a = eval(\"a + 1\")]", Value::Undefined),
        ("[a = MY.b; b = MY.a]", Value::Undefined),
        ("[a = l[0]; l = {l[0]}]", Value::Error),
    ];
    for (ad, wanted) in cases {
        let ad = ClassAd::parse(ad).expect("an ad");
        assert_eq!(ad.evaluate("a", &Context::new()), wanted, "{ad}");
    }
    let ad = ClassAd::parse("[x = TARGET.x; Requirements = TARGET.Requirements]").expect("an ad");
    assert_eq!(ad.evaluate("x", &Context::new().with_target(&ad)), Value::Undefined);
    let ready = CompiledAd::new(&ad, &mut Names::new());
    assert!(!ready.accepts(&ready, &Context::new()));
    assert!(!matches(&ad, &ad, &Context::new()));
}

/// Each of these would take ages without limits.
#[test]
fn work_that_doubles_ends() {
    let doubling = |wrap: fn(&str) -> String| {
        let mut text = String::from("[");
        for number in 0..90 {
            let _ = write!(text, "a{number} = {};", wrap(&format!("a{}", number + 1)));
        }
        ClassAd::parse(text + "a90 = \"x\"]").expect("an ad")
    };
    let wraps: [fn(&str) -> String; 4] = [
        |next| format!("{next} + {next}"),
        |next| format!("strcat({next}, {next})"),
        |next| format!("{next} == {next} ? {next} : {next}"),
        |next| format!("size({{{next}, {next}}}) + sum({{{next}, {next}}})"),
    ];
    for wrap in wraps {
        let ad = doubling(wrap);
        let start = Instant::now();
        assert_eq!(ad.evaluate("a0", &Context::new()), Value::Error, "{ad}");
        assert!(start.elapsed() < Duration::from_mins(1), "{ad} took {:?}", start.elapsed());
        // Getting ready to match does not multiply either.
        CompiledAd::new(&ad, &mut Names::new());
    }
    assert_eq!(evaluate(&format!("regexp(\"(a+)+$\", \"{}b\")", "a".repeat(60))), Value::Error);
}

/// Each is tried within PCRE2's own limit at every place of the text, which lets it take hours.
#[test]
fn a_pattern_costs_what_it_may_try() {
    let limits = Limits { steps: 1_000_000, ..Limits::default() };
    let text = "a".repeat(20_000);
    for pattern in ["(a|aa)+$", "(a+)+$", "a*a*a*a*a*b", "(?:a*+b?)+c", "(*LIMIT_MATCH=4000000000)(a|aa)+$"] {
        for call in
            ["regexp(\"P\", \"T\")", "replaceAll(\"P\", \"T\", \"x\")", "regexpMember(\"P\", {\"T\", \"T\"})"]
        {
            let call = call.replace('T', &format!("{text}c")).replace('P', pattern);
            let budget = Budget::new(2_000_000);
            let context = Context::new().with_limits(limits).with_budget(&budget);
            let value = Expr::parse(&call).expect("an expression").evaluate(&context);
            assert_ne!(value, Value::Boolean(true), "{pattern}");
            assert!(budget.take_exceeded() && budget.left() >= 999_999, "{pattern} left {}", budget.left());
        }
    }
    let context = Context::new().with_limits(limits);
    let usual = Expr::parse(format!(
        "regexp(\"^lab-[0-9]+$\", \"lab-12\") && regexp(\"c$\", \"{}c\")",
        "a".repeat(500)
    ));
    assert_eq!(usual.expect("an expression").evaluate(&context), Value::Boolean(true));
}

#[test]
fn limits_can_be_set() {
    let tight = Limits { nesting: 3, elements: 5, ..Limits::default() };
    assert!(Expr::parse_within("((1))", &tight).is_ok());
    assert!(matches!(Expr::parse_within("((((1))))", &tight).unwrap_err().problem, Problem::TooDeep(3)));
    assert!(matches!(Expr::parse_within("{1,2,3,4,5}", &tight).unwrap_err().problem, Problem::TooLong(5)));
    let context = Context::new().with_limits(Limits { string_bytes: 4, ..Limits::default() });
    let strcat = Expr::parse("strcat(\"abc\", \"de\")").expect("an expression");
    assert_eq!(strcat.evaluate(&context), Value::Error);
}

#[test]
fn odd_input_gets_an_answer() {
    let cases: [(&[u8], &str); 10] = [
        (b"\"\xff\xfe\"", "\"\\377\\376\""),
        (b"size(\"\xc3\xa9\")", "2"),
        (b"9223372036854775807 + 1", "-9223372036854775808"),
        (b"99999999999999999999", "0"),
        (b"1 / 0", "error"),
        (b"1 % 0", "error"),
        (b"(-9223372036854775807 - 1) / -1", "9223372036854775807"),
        (b"(-9223372036854775807 - 1) % -1", "0"),
        (b"1e999", "real(\"INF\")"),
        (b"noSuchFunction(1)", "error"),
    ];
    for (text, wanted) in cases {
        let value = Expr::parse(text).expect("an expression").evaluate(&Context::new());
        assert_eq!(value.to_string(), wanted, "{}", String::from_utf8_lossy(text));
    }
    for text in [
        &b"\"a\0b\""[..],
        b"\"\\0\"",
        b"\0",
        b"\xff",
        b"a b",
        b"",
        b"(",
        b"\"",
        b"/*",
        b"1 +",
        b"0x",
        b"1.",
        b"08",
        b"=?",
    ] {
        assert!(Expr::parse(text).is_err(), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_nul_is_refused_behind_a_backslash_too() {
    for text in [&b"\"a\0\""[..], b"\"a\\\0\"", b"'a\\\0'"] {
        assert!(Expr::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_nul_is_in_no_name_and_no_string_of_any_form() {
    for text in [
        &b"{\"a\0b\": 1}"[..],
        b"{\"a\\u0000b\": 1}",
        b"{\"a\": \"b\0\"}",
        b"{\"a\": \"\\\0\"}",
        b"{\"\\\0\": 1}",
    ] {
        assert!(ClassAd::parse_json(text).is_err(), "{text:?}");
    }
    // Four digits are four digits.
    assert!(ClassAd::parse_json(b"{\"a\": \"\\u+041\"}").is_err());
    for (name, string) in [(&b"a\0b"[..], &b"s"[..]), (b"a\\0b", b"s"), (b"a", b"s\0"), (b"a", b"s\\000")] {
        let text = [b"<c><a n=\"", name, b"\"><s>", string, b"</s></a></c>"].concat();
        assert!(ClassAd::parse_xml(&text).is_err(), "{text:?}");
    }
}
