//! Random expressions and ads for tests.

/// PCG XSH RR 64/32, so that a seed means the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(2).wrapping_add(1));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u32 {
        let old = self.0;
        self.0 = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((((old >> 18) ^ old) >> 27) as u32).rotate_right((old >> 59) as u32)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "10",
    "42",
    "100",
    "-1",
    "-2",
    "-7",
    "63",
    "64",
    "65",
    "255",
    "1024",
    "3600",
    "86400",
    "90061",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "0.0",
    "-0.0",
    "0.1",
    "0.5",
    "1.0",
    "1.5",
    "2.5",
    "-2.5",
    "3.14159",
    "1e10",
    "1e-7",
    "1E308",
    "-1e308",
    "1e400",
    "123456.789",
    "0.3",
    "2.0",
    "1e20",
    "9007199254740993",
    ".25",
    "09.5",
];
const STRINGS: &[&str] = &[
    "\"\"",
    "\"a\"",
    "\"A\"",
    "\"b\"",
    "\"abc\"",
    "\"ABC\"",
    "\"hello world\"",
    "\"1\"",
    "\"1.5\"",
    "\"-3\"",
    "\"12abc\"",
    "\"1e3\"",
    "\"true\"",
    "\"False\"",
    "\"a,b,c\"",
    "\"a, b ,c\"",
    "\"x;y;z\"",
    "\"user@host\"",
    "\"1.2.10\"",
    "\"1.2.9\"",
    "\"08\"",
    "\"a\\tb\\n\"",
    "\"q\\\"q\"",
    "\"back\\\\slash\"",
    "\"\\101\\377\"",
    "\"^a.*\"",
    "\"[a-c]+\"",
    "\"(a)(b)?\"",
    "\"i\"",
    "\"g\"",
    "\"\\\\1x\"",
    "\"%Y-%m-%d\"",
    "\"a=1 b=2\"",
    "\"a=1;b=2\"",
    "\"'x y' z\"",
    "\"nan\"",
    "\"INF\"",
    "\"<\"",
    "\"<=\"",
    "\"==\"",
    "\">\"",
    "\"is\"",
    "\"isnt\"",
    "\"!=\"",
    "\"a+1\"",
    "\"b\"",
    "\",\"",
    "\"5 K\"",
    "\"one\" \"two\"",
    "\"3.9\"",
];
const OTHERS: &[&str] = &[
    "undefined",
    "error",
    "true",
    "false",
    "absTime(\"2004-01-01T00:00:00Z\")",
    "absTime(\"1999-12-31T23:59:58-06:00\")",
    "relTime(\"1+02:03:04\")",
    "relTime(\"5.5\")",
    "relTime(-65)",
    "relTime(100000)",
    "absTime(86400)",
    "absTime(0, 3600)",
    "real(\"NaN\")",
    "real(\"INF\")",
    "real(\"-INF\")",
    "{}",
    "[]",
    "TRUE",
    "Undefined",
];
const BINARY: &[&str] = &[
    "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "=?=", "=!=", "is", "isnt", "&&", "||", "&",
    "|", "^", "<<", ">>", ">>>",
];
pub(crate) const ATTRIBUTES: &[&str] = &["a", "b", "c", "d", "Memory", "Cpus", "name", "l", "n"];

/// The functions of the language, with a letter for the likely type of each argument: n number, s string, l list,
/// t time, e anything, r attribute, k small number, m list of numbers, c comparison; T is a time and S a string for
/// certain: what lies beyond the calendar of the C library is not defined, and whether `05` is a number depends on what
/// classad2 has done before.
const FUNCTIONS: &[(&str, &str)] = &[
    ("isUndefined", "e"),
    ("isError", "e"),
    ("isString", "e"),
    ("isInteger", "e"),
    ("isReal", "e"),
    ("isList", "e"),
    ("isClassAd", "e"),
    ("isBoolean", "e"),
    ("isAbsTime", "e"),
    ("isRelTime", "e"),
    ("member", "el"),
    ("identicalMember", "el"),
    ("size", "l"),
    ("size", "s"),
    ("sum", "m"),
    ("avg", "m"),
    ("min", "m"),
    ("max", "m"),
    ("anyCompare", "cln"),
    ("allCompare", "cmn"),
    ("getYear", "t"),
    ("getMonth", "t"),
    ("getDayOfYear", "t"),
    ("getDayOfMonth", "t"),
    ("getDayOfWeek", "t"),
    ("getDays", "t"),
    ("getHours", "t"),
    ("getMinutes", "t"),
    ("getSeconds", "t"),
    ("splitTime", "T"),
    ("formatTime", "ts"),
    ("strcat", "sse"),
    ("join", "sl"),
    ("join", "sss"),
    ("toUpper", "s"),
    ("toLower", "s"),
    ("substr", "sn"),
    ("substr", "snn"),
    ("strcmp", "ss"),
    ("stricmp", "ss"),
    ("versioncmp", "ss"),
    ("versionLE", "ss"),
    ("versionLT", "ss"),
    ("versionGE", "ss"),
    ("versionGT", "ss"),
    ("versionEQ", "ss"),
    ("version_in_range", "sss"),
    ("regexp", "ss"),
    ("regexp", "sss"),
    ("regexpMember", "sl"),
    ("regexps", "sss"),
    ("replace", "sss"),
    ("replaceall", "sss"),
    ("regexps", "ssss"),
    ("int", "e"),
    ("real", "e"),
    ("string", "e"),
    ("bool", "e"),
    ("absTime", "n"),
    ("absTime", "nn"),
    ("relTime", "n"),
    ("unparse", "r"),
    ("unresolved", "r"),
    ("floor", "e"),
    ("ceil", "e"),
    ("ceiling", "n"),
    ("round", "n"),
    ("pow", "kk"),
    ("quantize", "nn"),
    ("quantize", "nm"),
    ("ifThenElse", "eee"),
    ("interval", "n"),
    ("eval", "S"),
    ("stringListsIntersect", "ss"),
    ("stringListsIntersect", "sss"),
    ("debug", "e"),
    ("noSuchFunction", "e"),
    ("stringListSize", "s"),
    ("stringListSize", "ss"),
    ("stringListSum", "s"),
    ("stringListAvg", "s"),
    ("stringListMin", "s"),
    ("stringListMax", "s"),
    ("stringListMember", "ss"),
    ("stringListIMember", "ss"),
    ("stringListSubsetMatch", "ss"),
    ("stringListISubsetMatch", "sss"),
    ("stringList_regexpMember", "ss"),
    ("stringList_regexpMember", "ssss"),
    ("splitUserName", "s"),
    ("splitSlotName", "s"),
    ("split", "s"),
    ("split", "ss"),
    ("listToArgs", "l"),
    ("argsToList", "s"),
    ("argsToList", "sn"),
    ("envV1ToV2", "s"),
    ("mergeEnvironment", "ss"),
    ("evalInEachContext", "rl"),
    ("countMatches", "rl"),
    ("userMap", "ssss"),
];

pub(crate) struct Generator {
    pub(crate) random: Random,
}

impl Generator {
    pub(crate) fn expr(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        match self.random.below(20) {
            0..=1 => self.leaf(),
            2..=7 => {
                let (left, op, right) =
                    (self.expr(depth - 1), self.random.pick(BINARY), self.expr(depth - 1));
                if self.random.below(4) == 0 {
                    format!("{left} {op} {right}")
                } else {
                    format!("({left} {op} {right})")
                }
            }
            8 => format!("{}{}", self.random.pick(&["-", "+", "!", "~", "- "]), self.expr(depth - 1)),
            9 => format!("({} ? {} : {})", self.expr(depth - 1), self.expr(depth - 1), self.expr(depth - 1)),
            10 => format!("({} ?: ({}))", self.leaf(), self.expr(depth - 1)),
            11 => self.list(depth - 1),
            12 => format!(
                "{}[{}]",
                self.list(depth - 1),
                self.random.pick(&["0", "1", "2", "-1", "a", "\"a\""])
            ),
            13 => format!("{}.{}", self.ad(depth - 1, 3), self.random.pick(ATTRIBUTES)),
            _ => self.call(depth - 1),
        }
    }

    fn leaf(&mut self) -> String {
        match self.random.below(10) {
            0..=3 => self.random.pick(NUMBERS).to_owned(),
            4..=5 => self.random.pick(STRINGS).to_owned(),
            6 => self.random.pick(OTHERS).to_owned(),
            _ => self.reference(),
        }
    }

    fn reference(&mut self) -> String {
        let name = self.random.pick(ATTRIBUTES);
        match self.random.below(8) {
            0 => format!("MY.{name}"),
            1..=2 => format!("TARGET.{name}"),
            3 => format!("n.{name}"),
            _ => name.to_owned(),
        }
    }

    pub(crate) fn list(&mut self, depth: usize) -> String {
        let items: Vec<String> = (0..self.random.below(4)).map(|_| self.expr(depth.min(1))).collect();
        format!("{{{}}}", items.join(", "))
    }

    pub(crate) fn ad(&mut self, depth: usize, attributes_max: usize) -> String {
        let attributes: Vec<String> = (0..=self.random.below(attributes_max))
            .map(|_| format!("{} = {}", self.random.pick(ATTRIBUTES), self.expr(depth)))
            .collect();
        format!("[{}]", attributes.join("; "))
    }

    fn call(&mut self, depth: usize) -> String {
        let (name, types) = FUNCTIONS[self.random.below(FUNCTIONS.len())];
        let mut args: Vec<String> = types.chars().map(|kind| self.arg(kind, depth)).collect();
        if args.len() > 1 && self.random.below(40) == 0 {
            args.pop();
        }
        format!("{name}({})", args.join(", "))
    }

    fn arg(&mut self, kind: char, depth: usize) -> String {
        if !matches!(kind, 'r' | 'k' | 'S' | 'T') && self.random.below(6) == 0 {
            return self.expr(depth);
        }
        match kind {
            'n' => self.random.pick(NUMBERS).to_owned(),
            // Small numbers, whose powers every library agrees on.
            'k' => {
                self.random.pick(&["0", "1", "2", "3", "-2", "0.5", "4", "2.0", "true", "\"3\""]).to_owned()
            }
            's' | 'S' => self.random.pick(STRINGS).to_owned(),
            'c' => self
                .random
                .pick(&["\"<\"", "\"<=\"", "\"==\"", "\"!=\"", "\">\"", "\">=\"", "\"is\"", "\"isnt\""])
                .to_owned(),
            'm' => {
                let items: Vec<&str> = (0..self.random.below(4)).map(|_| self.random.pick(NUMBERS)).collect();
                format!("{{{}}}", items.join(","))
            }
            'l' => self.list(depth),
            't' | 'T' => self.random.pick(&OTHERS[4..12]).to_owned(),
            // Not one that is missing: HTCondor goes on evaluating somewhere else after it has looked for it.
            'r' => self.random.pick(&["a", "b", "c", "l", "n", "Memory"]).to_owned(),
            _ => self.expr(depth),
        }
    }

    /// An ad as a job or a machine might have it, with some attributes that refer to others.
    pub(crate) fn asking_ad(&mut self) -> String {
        let requirements = self.condition();
        format!(
            "[Memory = {}; Cpus = {}; name = {}; a = {}; b = {}; c = {}; l = {}; n = {}; Requirements = {}; Rank = {}]",
            self.random.pick(NUMBERS),
            self.random.pick(NUMBERS),
            self.random.pick(STRINGS),
            self.leaf(),
            self.expr(1),
            self.expr(1),
            self.list(1),
            self.ad(1, 3),
            requirements,
            self.expr(1),
        )
    }

    fn condition(&mut self) -> String {
        let clauses: Vec<String> = (0..=self.random.below(3))
            .map(|_| match self.random.below(6) {
                0..=3 => format!(
                    "{}.{} {} {}",
                    self.random.pick(&["TARGET", "MY", "other"]),
                    self.random.pick(ATTRIBUTES),
                    self.random.pick(&["==", "!=", "<", "<=", ">", ">=", "=?=", "=!="]),
                    self.leaf()
                ),
                4 => self.random.pick(&["true", "1", "MY.a", "TARGET.b"]).to_owned(),
                _ => self.expr(1),
            })
            .collect();
        clauses.join(self.random.pick(&[" && ", " || "]))
    }
}
