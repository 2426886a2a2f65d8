//! The language as a table: what an expression is worth.

use gleaner_classad::{
    ClassAd, Clock, CompiledAd, Context, Expr, Names, Problem, Value, explain_unknown_function,
};

/// Each line is `expression => value`.
fn check(context: &Context, table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (text, wanted) = line.split_once(" => ").expect("a line has two sides");
        let expr = Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(expr.evaluate(context).to_string(), wanted, "{text}");
    }
}

#[test]
fn operators() {
    check(
        &Context::new(),
        r#"
        1 + 2 * 3 => 7
        7 / 2 => 3
        7 / 2.0 => 3.5
        -7 % 3 => -1
        1 << 65 => 2
        -1 >>> 1 => 9223372036854775807
        ~5 | 1 => -5
        "a" == "A" => true
        "a" =?= "A" => false
        1 =?= 1.0 => false
        true == 1 => true
        {1} == {1} => error
        true && undefined => undefined
        false && error => false
        error && false => error
        undefined || true => true
        1 && 2 => true
        "a" || true => error
        !undefined => undefined
        -true => error
        undefined ? 1 : 2 => undefined
        0 ? 1 : 2 => 2
        undefined ?: 2 => 2
        1 ?: 2 + 3 => 4
        {1, 2}[1] => 2
        {1, 2}[2] => error
        [a = 1]["b"] => undefined
        {[a = 1], [b = 2]}.a => {1, undefined}
        1e300 * 1e300 => error
        -1e300 * 1e300 => real("-INF")
        0.1 + 0.2 => 0.30000000000000004
        1e20 => 1e20
        -0.0 => -0.0
        "a" "b" => "ab"
        "\101\n\"" => "A\n\""
        'a b' => undefined
        "#,
    );
}

#[test]
fn scopes() {
    let my = ClassAd::parse("[a = 1; b = [a = 2; c = a; d = parent.a; e = .a]; l = {a}; t = TARGET.x]")
        .expect("an ad");
    check(
        &Context::new().with_my(&my),
        "
        A => 1
        MY.a => 1
        b.c => 2
        b.d => 1
        b.e => 1
        l[0] => 1
        [z = a].z => 1
        TARGET.a => undefined
        ",
    );
    let target = ClassAd::parse("[x = 5; y = MY.x + TARGET.a]").expect("an ad");
    check(
        &Context::new().with_my(&my).with_target(&target),
        "
        TARGET.x => 5
        other.y => 6
        t => 5
        x => undefined
        .LEFT.a => 1
        ",
    );
}

#[test]
fn functions() {
    check(
        &Context::new().with_clock(Clock::Fixed(86_400)).with_seed(1),
        r#"
        strcat("a", 1, 2.5, true) => "a12.500000000000000E+00true"
        string({1, "a"}) => "{ 1,\"a\" }"
        substr("hello", -3, 2) => "ll"
        join(",", {"a", undefined, 2}) => "a,2"
        split("a, b,,c") => {"a", "b", "", "c"}
        versioncmp("1.2", "1.10") => -1
        versionLE("9", "10a") => true
        regexp("^a.*B$", "a--b", "i") => true
        regexps("(a)(b)?", "xay", "<\\1>") => "<a>"
        replaceAll("a", "banana", "o") => "bonono"
        regexpMember("b.*", {"aa", "bb"}) => true
        stringListIMember("B", "a, b") => true
        stringListSum("1,2.5") => 3.5
        sum({1, undefined, 2.5}) => 3.5
        max({3, 1.5}) => 3.0
        member("A", {"a"}) => true
        anyCompare("<", {5, 1}, 3) => true
        int("12abc") => 12
        real("nan") => real("NaN")
        pow(2, 10) => 1024
        pow(-8, 3) => -511
        quantize(5, {4, 8}) => 8
        round(2.5) => 2
        absTime("2004-01-01T00:00:00-06:00") => absTime("2004-01-01T00:00:00-06:00")
        absTime(5, 3600) => absTime("1970-01-01T01:00:05+01:00")
        relTime(93784) => relTime("1+02:03:04")
        relTime("1d2h") => 93600.0
        splitTime(relTime(61)).Minutes => 1
        formatTime(absTime(86400, 0), "%Y-%m-%d %a") => "1970-01-02 Fri"
        interval(90061) => "1+01:01:01"
        time() => 86400
        random(1) => 0
        ifThenElse(undefined, 1, 2) => undefined
        eval("1 + 1") => 2
        countMatches(a > 1, {[a = 1], [a = 2]}) => 1
        listToArgs({"a", "b c"}) => "a b' 'c"
        argsToList("a 'b c'") => {"a", "b c"}
        envV1ToV2("b=2;a=1") => "a=1 b=2"
        mergeEnvironment("a=1", "a=2 b=3") => "a=2 b=3"
        noSuchFunction() => error
        "#,
    );
}

#[test]
fn mistakes_are_told_with_their_place() {
    let table = [
        ("1 +", "line 1, column 4: found the end of the input, expected an operand"),
        ("1 +\n )", "line 2, column 2: found `)`, expected an operand"),
        ("(1", "line 1, column 3: found the end of the input, expected an operator or `)`"),
        ("f(1 2)", "line 1, column 5: found `2`, expected an operator, `,` or `)`"),
        ("[a = 1, b = 2]", "line 1, column 7: found `,`, expected an operator, `;` or `]`"),
        ("{1, }", "line 1, column 5: found `}`, expected an operand"),
        ("a ? b", "line 1, column 6: found the end of the input, expected `:`"),
        ("a.5", "line 1, column 2: found `.5`, expected an operator or the end of the input"),
        ("é", "line 1, column 1: found `é`, which no expression contains"),
        ("\"abc", "line 1, column 1: a string that does not end"),
        ("08", "line 1, column 1: malformed number `08`, expected octal digits behind a leading 0"),
        ("absTime(\"soon\")", "line 1, column 8: `soon` is no absolute time"),
    ];
    for (text, wanted) in table {
        assert_eq!(Expr::parse(text).expect_err(text).to_string(), wanted, "{text}");
    }
    let error = ClassAd::parse_old("a = 1\nb = (2\n").expect_err("a bracket is missing");
    assert_eq!((error.line, error.column), (2, 7));
    assert!(matches!(error.problem, Problem::Unexpected { .. }));
    let unknown = Expr::parse("strngListMember(\"a\", \"b\")").expect("an expression").unknown_functions();
    assert_eq!(
        explain_unknown_function(&unknown[0]),
        "unknown function `strngListMember`; did you mean `stringListMember` or `stringListIMember`?"
    );
}

#[test]
fn values_compare_by_type_and_bits() {
    assert_ne!(Value::Integer(1), Value::Real(1.0));
    assert_ne!(Value::Real(0.0), Value::Real(-0.0));
    assert_eq!(Value::Real(f64::NAN), Value::Real(f64::NAN));
}

#[test]
fn ads_that_ask_for_other_bytes_are_compiled_apart() {
    let mut names = Names::new();
    let mut compiled = |bytes: &[u8]| CompiledAd::new(&ClassAd::parse(bytes).expect("an ad"), &mut names);
    let fe = compiled(b"[ b = TARGET.x == \"\xfe\"; Requirements = b ]");
    let ff = compiled(b"[ b = TARGET.x == \"\xff\"; Requirements = b ]");
    let has = compiled(b"[ x = \"\xff\" ]");
    assert!(ff.accepts(&has, &Context::new()));
    assert!(!fe.accepts(&has, &Context::new()));
}
