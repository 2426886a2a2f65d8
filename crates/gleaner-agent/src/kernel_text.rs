//! Texts of the kernel's about processes. **A program may call itself anything**, bytes that are no text included: whoever passes over what
//! is no UTF-8 passes over such a program.

use std::fs;
use std::path::Path;

/// The text of a file in `/proc`; none once the process is gone.
pub(crate) fn read(file: impl AsRef<Path>) -> Option<String> {
    fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn a_program_is_seen_whatever_it_calls_itself() {
        let mut child = Command::new("sh")
            .args(["-c", "printf '\\377)' > /proc/$$/comm; echo; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = child.stdout.take().expect("it is piped");
        BufReader::new(said).read_line(&mut String::new()).unwrap();
        let texts = ["stat", "status"].map(|file| read(format!("/proc/{}/{file}", child.id())));
        child.kill().unwrap();
        child.wait().unwrap();
        let [stat, status] = texts.map(|text| text.expect("it lives"));
        assert!(stat.contains("(\u{fffd}))") && status.contains("VmRSS:"), "{stat}{status}");
        assert_eq!(read(format!("/proc/{}/stat", child.id())), None);
    }
}
