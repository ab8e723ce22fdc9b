//! Who gives a command: what `--by` says, else the name of the user, also behind `sudo`.

use std::os::unix::fs::MetadataExt;

/// The name of the user who gives the command.
pub(super) fn author() -> String {
    let named = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(named).or_else(entered).unwrap_or_else(|| "unknown".into())
}

/// The name that the list of users has for the owner of this process.
fn entered() -> Option<String> {
    let uid = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut users = users.lines().map(|line| line.split(':'));
    users.find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}
