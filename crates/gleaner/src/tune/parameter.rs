//! One key that is varied, and the values that it takes.

use std::fmt;

/// So many settings of all parameters together.
const SETTINGS_MAX: usize = 100_000;
/// So many values in one list.
const VALUES_MAX: usize = 10_000;

const EXPECTED: &str = "expected KEY=LOW..HIGH or a list, as policy.alpha=0..1 or policy.power=1,2,4";

/// A key with what it takes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Parameter {
    /// As `policy.alpha`.
    pub(crate) key: String,
    values: Values,
}

#[derive(Clone, PartialEq, Debug)]
enum Values {
    Range { low: f64, high: f64 },
    List(Vec<f64>),
}

impl Parameter {
    /// From an argument.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some((key, values)) = text.split_once('=') else { return Err(format!("found no =; {EXPECTED}")) };
        let key = key.trim();
        if key.split('.').any(str::is_empty) {
            return Err(format!("found the key \"{key}\"; {EXPECTED}"));
        }
        let number = |text: &str| -> Result<f64, String> {
            let number: Option<f64> = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("{key}: found \"{}\"; expected a finite number", text.trim()))
        };
        let values = if let Some((low, high)) = values.split_once("..") {
            let (low, high) = (number(low)?, number(high)?);
            if low >= high {
                return Err(format!(
                    "{key}: found the empty range {low}..{high}; expected the low end first, as 0..1"
                ));
            }
            if !(high - low).is_finite() {
                return Err(format!("{key}: found a range without a length; expected a smaller one"));
            }
            Values::Range { low, high }
        } else {
            let list: Vec<f64> = values.split(',').map(number).collect::<Result<_, String>>()?;
            if list.len() > VALUES_MAX {
                return Err(format!("{key}: found {} values; expected at most {VALUES_MAX}", list.len()));
            }
            if let Some(at) = (1..list.len()).find(|at| list[..*at].contains(&list[*at])) {
                return Err(format!("{key}: found {} twice; expected each value once", list[at]));
            }
            Values::List(list)
        };
        Ok(Self { key: key.to_owned(), values })
    }

    /// All values, in order.
    fn values(&self, steps: u32) -> Vec<f64> {
        match &self.values {
            Values::List(list) => list.clone(),
            Values::Range { low, high } => {
                let at = |step: u32| low + (high - low) * f64::from(step) / f64::from(steps - 1);
                // 0.3 and not 0.30000000000000004.
                let short = |value: f64| format!("{value:.12e}").parse().unwrap_or(value);
                (0..steps).map(|step| short(at(step))).collect()
            }
        }
    }
}

/// What is tried of all parameters.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sweep {
    /// In the order in which they were named.
    pub(super) axes: Vec<(String, Vec<f64>)>,
}

/// A value for each parameter, in their order.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Setting(pub(super) Vec<f64>);

impl Sweep {
    pub(super) fn new(parameters: &[Parameter], steps: u32) -> Result<Self, String> {
        let axes: Vec<(String, Vec<f64>)> =
            parameters.iter().map(|parameter| (parameter.key.clone(), parameter.values(steps))).collect();
        if let Some(at) = (1..axes.len()).find(|at| axes[..*at].iter().any(|(key, _)| *key == axes[*at].0)) {
            return Err(format!("--param {}: found it twice; expected each key once", axes[at].0));
        }
        let count = axes.iter().try_fold(1_usize, |count, (_, values)| count.checked_mul(values.len()));
        match count.filter(|count| *count <= SETTINGS_MAX) {
            Some(_) => Ok(Self { axes }),
            None => Err(format!("--param: found more than {SETTINGS_MAX} settings; expected fewer values")),
        }
    }

    /// All combinations, the last parameter's values next to each other.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let mut settings = vec![Setting(Vec::new())];
        for (_, values) in &self.axes {
            let longer = |setting: &Setting| {
                let before = setting.0.clone();
                values.iter().map(move |value| Setting([&before[..], &[*value]].concat())).collect::<Vec<_>>()
            };
            settings = settings.iter().flat_map(longer).collect();
        }
        settings
    }

    /// As what is laid over the scenario.
    pub(super) fn overrides(&self, setting: &Setting) -> Vec<String> {
        let keys = self.axes.iter().map(|(key, _)| key);
        keys.zip(&setting.0).map(|(key, value)| format!("{key}={}", Plain(*value))).collect()
    }
}

/// A number as it would be typed.
pub(super) struct Plain(pub(super) f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.abs() < 1e15 { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_are_read_and_all_else_is_refused() {
        let values = |text| Parameter::parse(text).map(|parameter| parameter.values(11));
        assert_eq!(values("policy.alpha=0..1").expect("a range")[3], 0.3);
        assert_eq!(values("a=-1..1e3").expect("a range")[10], 1000.0);
        assert_eq!(values("a.b=1,2, 4"), Ok(vec![1.0, 2.0, 4.0]));
        let bad = [
            ("alpha", "found no ="),
            ("=0..1", "found the key \"\""),
            ("a..b=0..1", "found the key"),
            ("a=1..0", "empty range 1..0"),
            ("a=1..1", "empty range 1..1"),
            ("a=NaN..1", "found \"NaN\""),
            ("a=0..inf", "found \"inf\""),
            ("a=x", "found \"x\""),
            ("a=", "found \"\""),
            ("a=1,2,1", "found 1 twice"),
            ("a=-1e308..1e308", "without a length"),
        ];
        for (text, says) in bad {
            let error = Parameter::parse(text).expect_err(text);
            assert!(error.contains(says) && error.contains("expected"), "{text}: {error}");
        }
    }

    #[test]
    fn every_combination_is_a_setting() {
        let parse = |text| Parameter::parse(text).expect("a parameter");
        let sweep = Sweep::new(&[parse("a=1,2"), parse("b=0..0.5")], 3).expect("a sweep");
        let all: Vec<String> =
            sweep.settings().iter().map(|setting| sweep.overrides(setting).join(" ")).collect();
        assert_eq!(all, ["a=1 b=0", "a=1 b=0.25", "a=1 b=0.5", "a=2 b=0", "a=2 b=0.25", "a=2 b=0.5"]);
        assert!(Sweep::new(&[parse("a=1"), parse("a=2")], 3).is_err());
        let many = ["a=0..1", "b=0..1", "c=0..1"].map(parse);
        assert!(Sweep::new(&many, 1_000).is_err());
    }
}
