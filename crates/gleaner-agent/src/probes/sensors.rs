//! Pressure, heat and power supply: each only where the machine has it.

use super::error::ProbeError;
use super::root::Root;

/// Degrees that a sensor of a running machine can show; outside of them it is not connected or asleep.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 1.0..=125.0;
/// The drivers whose sensors sit on the CPU. Disks and radios are hot in other ways.
const CPU_SENSORS: [&str; 5] = ["coretemp", "k10temp", "zenpower", "cpu_thermal", "via_cputemp"];

/// The share of the last ten seconds in which some task waited for `resource`, from 0 to 1.
pub(crate) fn pressure(root: &Root, resource: &str) -> Result<Option<f64>, ProbeError> {
    let Some(text) = root.read(&format!("/proc/pressure/{resource}"))? else { return Ok(None) };
    let Some(some) = text.find_line("some") else {
        return Err(text.first().garbled("a line \"some avg10=…\""));
    };
    let percent = some.words().find_map(|word| word.strip_prefix("avg10=")?.parse::<f64>().ok());
    match percent {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(Some(percent / 100.0)),
        _ => Err(some.garbled("avg10= with a percentage")),
    }
}

/// The highest temperature of the thermal zones and the CPU's own sensors, in degrees Celsius.
pub(crate) fn temperature(root: &Root) -> Result<Option<f64>, ProbeError> {
    let mut hottest: Option<f64> = None;
    for file in temperature_files(root)? {
        let Some(text) = root.read(&file)? else { continue };
        let millis: i64 = text.first().number(0, "a temperature in thousandths of a degree")?;
        let degrees = millis as f64 / 1000.0;
        if PLAUSIBLE.contains(&degrees) {
            hottest = Some(hottest.map_or(degrees, |before| before.max(degrees)));
        }
    }
    Ok(hottest)
}

/// Whether the machine lives on its battery; `None` for one that has no battery of its own.
///
/// A supply that is connected decides. Where none is, a battery that discharges says yes; where no supply is known at
/// all, only that does.
pub(crate) fn on_battery(root: &Root) -> Result<Option<bool>, ProbeError> {
    let (mut mains, mut connected, mut battery, mut discharging) = (false, false, false, false);
    for name in root.list("/sys/class/power_supply")? {
        let supply = Supply { root, folder: format!("/sys/class/power_supply/{name}") };
        // A mouse's battery is a power supply too.
        if supply.word("scope")?.as_deref() == Some("Device") {
            continue;
        }
        match supply.word("type")?.as_deref() {
            Some("Battery") => {
                battery = true;
                discharging |= supply.word("status")?.as_deref() == Some("Discharging");
            }
            Some("Mains" | "USB" | "UPS" | "Wireless") => {
                mains = true;
                connected |= supply.is_online()?;
            }
            Some(_) | None => {}
        }
    }
    Ok(battery.then_some(!connected && (discharging || mains)))
}

struct Supply<'a> {
    root: &'a Root,
    folder: String,
}

impl Supply<'_> {
    fn word(&self, file: &str) -> Result<Option<String>, ProbeError> {
        let text = self.root.read(&format!("{}/{file}", self.folder))?;
        Ok(text.map(|text| text.first().text.trim().to_owned()))
    }

    fn is_online(&self) -> Result<bool, ProbeError> {
        let Some(text) = self.root.read(&format!("{}/online", self.folder))? else { return Ok(false) };
        let online: u8 = text.first().number(0, "0 or 1")?;
        Ok(online != 0)
    }
}

fn temperature_files(root: &Root) -> Result<Vec<String>, ProbeError> {
    let mut files = Vec::new();
    for zone in root.list("/sys/class/thermal")? {
        if zone.starts_with("thermal_zone") {
            files.push(format!("/sys/class/thermal/{zone}/temp"));
        }
    }
    for chip in root.list("/sys/class/hwmon")? {
        let folder = format!("/sys/class/hwmon/{chip}");
        let name = root.read(&format!("{folder}/name"))?;
        if name.is_none_or(|name| !CPU_SENSORS.contains(&name.first().text)) {
            continue;
        }
        let inputs = root.list(&folder)?.into_iter();
        let inputs = inputs.filter(|file| file.starts_with("temp") && file.ends_with("_input"));
        files.extend(inputs.map(|file| format!("{folder}/{file}")));
    }
    Ok(files)
}
