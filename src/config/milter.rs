//! The settings of `milter`: where it listens, whom it asks, what it does with the answers.
//!
//! Addresses are typed: what cannot be listened on or asked is refused when the settings are read, with what to write instead.
//!
//! # Invariants
//! - An address is shown as it can be written again. (`addresses_are_read_in_the_forms_of_both_servers`)

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The milter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct MilterSettings {
    pub listen: Listen,
    pub socket_mode: SocketMode,
    pub server: Server,
    pub token_file: PathBuf,
    pub learn: bool,
    pub timeout_ms: u64,
    pub pause_ms: u64,
    pub authserv_id: String,
    pub authserv_headers: usize,
    pub connections_max: usize,
    pub mails_max: usize,
    pub mail_bytes_max: usize,
    pub waiting_bytes_max: usize,
    pub read_timeout_ms: u64,
    pub idle_timeout_ms: u64,
    pub stop_timeout_ms: u64,
    #[serde(with = "address")]
    pub metrics_listen: Option<SocketAddr>,
    pub report_s: u64,
    /// What is done with a mail that carries a label, by the label.
    #[serde(default)]
    pub actions: BTreeMap<String, Action>,
}

/// What is done with a mail that carries a label; the later, the stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It gets its headers, as every mail does.
    Header,
    /// The mail server holds it back, and a person decides.
    Quarantine,
    /// The sender is told that it is not taken.
    Reject,
}

impl Action {
    /// As it is written in a configuration.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "header" => Some(Self::Header),
            "quarantine" => Some(Self::Quarantine),
            "reject" => Some(Self::Reject),
            _ => None,
        }
    }
}

/// Where mail servers reach the milter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Listen {
    /// A TCP port.
    Inet {
        /// A name or an address.
        host: String,
        /// 0 takes a free one.
        port: u16,
    },
    /// A socket in the file system.
    Unix(PathBuf),
}

const LISTEN_FORMS: &str = "it is written `inet:HOST:PORT`, `inet:PORT@HOST` or `unix:PATH`";

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:").or_else(|| text.strip_prefix("local:")) {
            return match path.is_empty() || path.contains('\0') {
                true => Err(format!("there is no path, {LISTEN_FORMS}")),
                false => Ok(Self::Unix(path.into())),
            };
        }
        let inet = text.strip_prefix("inet:").or_else(|| text.strip_prefix("inet6:"));
        let inet = inet.ok_or_else(|| LISTEN_FORMS.to_owned())?;
        let (host, port) = match inet.split_once('@') {
            Some((port, host)) => (host, port),
            None => inet.rsplit_once(':').ok_or_else(|| format!("there is no port, {LISTEN_FORMS}"))?,
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port = port.parse().map_err(|_| format!("the port is no number to 65535, {LISTEN_FORMS}"))?;
        match host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
            true => Err(format!("there is no host, {LISTEN_FORMS}")),
            false => Ok(Self::Inet { host: host.to_owned(), port }),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inet { host, port } if host.contains(':') => write!(f, "inet:[{host}]:{port}"),
            Self::Inet { host, port } => write!(f, "inet:{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl From<Listen> for String {
    fn from(listen: Listen) -> Self {
        listen.to_string()
    }
}

/// Who may open a socket in the file system, in octal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SocketMode(u32);

impl SocketMode {
    /// As the system has it.
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl TryFrom<String> for SocketMode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match u32::from_str_radix(&text, 8) {
            Ok(bits) if bits <= 0o777 => Ok(Self(bits)),
            _ => Err("it is written in octal, such as \"0660\"".into()),
        }
    }
}

impl From<SocketMode> for String {
    fn from(mode: SocketMode) -> Self {
        format!("{:04o}", mode.0)
    }
}

/// The HTTP side of the run that is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Server(String);

impl Server {
    /// `http://HOST:PORT`, without a path.
    pub fn url(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Server {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let form = "it is written `http://HOST:PORT`";
        if text.starts_with("https:") {
            return Err(format!("nothing is encrypted there, {form}; a proxy or tunnel beside the run can"));
        }
        let url = url::Url::parse(&text).map_err(|error| format!("{error}, {form}"))?;
        let is_bare =
            url.username().is_empty() && url.password().is_none() && url.path() == "/" && url.query().is_none();
        match (url.scheme(), url.host_str(), url.port_or_known_default()) {
            ("http", Some(host), Some(port)) if is_bare && url.fragment().is_none() && port > 0 => {
                Ok(Self(format!("http://{host}:{port}")))
            }
            _ => Err(form.into()),
        }
    }
}

impl From<Server> for String {
    fn from(server: Server) -> Self {
        server.0
    }
}

/// An address that may be none, which is written as nothing.
mod address {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::net::SocketAddr;

    pub(super) fn serialize<S: Serializer>(address: &Option<SocketAddr>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&address.map(|address| address.to_string()).unwrap_or_default())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = (!text.is_empty()).then(|| text.parse()).transpose();
        read.map_err(|_| D::Error::custom("it is written `ADDRESS:PORT`, and empty for none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_the_forms_of_both_servers() {
        for (written, shown) in [
            ("inet:127.0.0.1:8472", "inet:127.0.0.1:8472"),
            ("inet:8472@localhost", "inet:localhost:8472"),
            ("inet6:[::1]:8472", "inet:[::1]:8472"),
            ("inet:8472@::1", "inet:[::1]:8472"),
            ("unix:/run/seamripper/milter.sock", "unix:/run/seamripper/milter.sock"),
            ("local:milter.sock", "unix:milter.sock"),
        ] {
            let listen = Listen::try_from(written.to_owned()).unwrap();
            assert_eq!(listen.to_string(), shown);
            assert_eq!(Listen::try_from(listen.to_string()).unwrap(), listen);
        }
        for wrong in ["", "8472", "127.0.0.1:8472", "inet:8472", "inet::8472", "inet:a b:1", "inet:h:99999", "unix:"] {
            let problem = Listen::try_from(wrong.to_owned()).unwrap_err();
            assert!(problem.contains("inet:HOST:PORT"), "{wrong}: {problem}");
        }
    }

    #[test]
    fn a_server_is_a_host_and_a_port() {
        for (written, url) in [
            ("http://127.0.0.1:8470", "http://127.0.0.1:8470"),
            ("http://filter.example:8470/", "http://filter.example:8470"),
            ("http://[::1]:1", "http://[::1]:1"),
            ("http://filter.example", "http://filter.example:80"),
        ] {
            assert_eq!(Server::try_from(written.to_owned()).unwrap().url(), url);
        }
        for wrong in
            ["", "127.0.0.1:8470", "https://a:1", "http://a:1/v1", "http://u:p@a:1", "http://a:1?x", "ftp://a:1"]
        {
            let problem = Server::try_from(wrong.to_owned()).unwrap_err();
            assert!(problem.contains("http://HOST:PORT"), "{wrong}: {problem}");
        }
    }

    #[test]
    fn modes_are_octal() {
        let mode = SocketMode::try_from("660".to_owned()).unwrap();
        assert_eq!((mode.bits(), String::from(mode)), (0o660, "0660".to_owned()));
        for wrong in ["", "rw", "0999", "1777", "-1"] {
            assert!(SocketMode::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_strongest_action_is_the_last() {
        assert!(Action::Reject > Action::Quarantine && Action::Quarantine > Action::Header);
        for action in [Action::Header, Action::Quarantine, Action::Reject] {
            let name = serde_json::to_value(action).unwrap();
            assert_eq!(Action::named(name.as_str().unwrap()), Some(action));
        }
    }
}
