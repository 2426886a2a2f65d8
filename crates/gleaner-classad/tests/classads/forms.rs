//! Ads in XML and JSON, as HTCondor writes them: documents, and the ads they are.

use gleaner_classad::ClassAd;

type Reader = fn(&str) -> Result<ClassAd, gleaner_classad::ParseError>;

/// Each document is the ad beside it, in the new form.
fn check(read: Reader, documents: &[(&str, &str)]) {
    for (document, ad) in documents {
        let wanted = ClassAd::parse(ad).expect("the ad of the table parses");
        assert_eq!(read(document).as_ref(), Ok(&wanted), "{document}");
    }
}

#[test]
fn xml_is_read() {
    check(
        |text| ClassAd::parse_xml(text),
        &[
            (
                r#"<c><a n="u"><un/></a><a n="e"><er/></a><a n="t"><b v="t"/></a><a n="f"><b v="f"/></a>
                    <a n="i"><i>-7</i></a><a n="r"><r>1.5E-10</r></a><a n="z"><r>-0.0</r></a><a n="s"><s>x y</s></a>
                    <a n="empty"><s/></a><a n="blank"><s> </s></a></c>"#,
                r#"[u = undefined; e = error; t = true; f = false; i = -7; r = 1.5e-10; z = -0.0; s = "x y";
                    empty = ""; blank = " "]"#,
            ),
            (
                r#"<c><a n="nan"><r>NaN</r></a><a n="inf"><r>INF</r></a><a n="least"><r>-INF</r></a>
                    <a n="at"><at>2026-11-28T12:30:00+01:00</at></a><a n="rt"><rt>1+02:03:04</rt></a></c>"#,
                r#"[nan = real("NaN"); inf = real("INF"); least = real("-INF");
                    at = absTime("2026-11-28T12:30:00+01:00"); rt = relTime("1+02:03:04")]"#,
            ),
            (
                r#"<c><a n="s"><s>&amp;&lt;&gt;&quot;&apos;&amp;lt; \n\t\\ \303\251 é "</s></a><a n="two words"><i>1</i></a>
                    <a n="a\tb"><i>2</i></a></c>"#,
                r#"[s = "&<>\"'&lt; \n\t\\ \303\251 \303\251 \""; 'two words' = 1; 'a\tb' = 2]"#,
            ),
            (
                r#"<?xml version="1.0"?><!DOCTYPE classads SYSTEM "classads.dtd"><classads><!-- the first -->
                    <c><a n="l"><l><i>1</i><l/><c><a n="in"><l><un/></l></a></c></l></a><a n="none"><c/></a></c></classads>"#,
                "[l = {1, {}, [in = {undefined}]}; none = []]",
            ),
            (
                r#"<c><a n="Requirements"><e>TARGET.Memory &gt;= 2 &amp;&amp; strcat("a", 'b c') is "ab"</e></a>
                    <a n="l"><l><e>f({1}[0], -x.y)</e></l></a></c>"#,
                r#"[Requirements = TARGET.Memory >= 2 && strcat("a", 'b c') is "ab"; l = {f({1}[0], -x.y)}]"#,
            ),
        ],
    );
}

#[test]
fn json_is_read() {
    check(
        |text| ClassAd::parse_json(text),
        &[
            (
                r#"{"u": null, "t": true, "f": false, "i": -7, "r": 1.5e-10, "z": -0.0, "s": "x y", "empty": ""}"#,
                r#"[u = undefined; t = true; f = false; i = -7; r = 1.5e-10; z = -0.0; s = "x y"; empty = ""]"#,
            ),
            (
                r#"{"e": "\/Expr(error)\/", "nan": "\/Expr(real(\"NaN\"))\/",
                    "at": "\/Expr(absTime(\"2026-11-28T12:30:00+01:00\"))\/", "rt": "\/Expr(relTime(\"1+02:03:04\"))\/"}"#,
                r#"[e = error; nan = real("NaN"); at = absTime("2026-11-28T12:30:00+01:00"); rt = relTime("1+02:03:04")]"#,
            ),
            (
                r#"{"s": "\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00é \u001f", "two words": 1, "a\tb": 2}"#,
                r#"[s = "\"\\/\b\f\n\r\tA\303\251\360\237\230\200\303\251 \037"; 'two words' = 1; 'a\tb' = 2]"#,
            ),
            (
                " { \"l\" : [ 1 , [ ] , { \"in\" : [ null ] } ] , \"none\" : { } }\n",
                "[l = {1, {}, [in = {undefined}]}; none = []]",
            ),
            (
                r#"{"Requirements": "\/Expr(TARGET.Memory >= 2 && strcat(\"a\", 'b c') is \"a\\nb\")\/",
                    "l": ["\/Expr(f({1}[0], -x.y))\/"], "text": "/Expr(1)/"}"#,
                r#"[Requirements = TARGET.Memory >= 2 && strcat("a", 'b c') is "a\nb"; l = {f({1}[0], -x.y)};
                    text = "/Expr(1)/"]"#,
            ),
        ],
    );
}
