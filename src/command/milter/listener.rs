//! Where mail servers connect: a TCP port, or a socket in the file system.
//!
//! # Invariants
//! - A socket that nobody listens on any more is replaced; one that somebody does is not. (`a_socket_in_use_is_left_alone`)
//! - A socket is never open to more than `milter.socket_mode`, and goes when we do.

use crate::config::{Listen, SocketMode};
use anyhow::{Context, bail};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

/// A connection.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Where mail servers connect.
pub(super) enum Listener {
    Inet(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    pub(super) async fn open(listen: &Listen, mode: SocketMode) -> anyhow::Result<Self> {
        let opened = match listen {
            Listen::Inet { host, port } => {
                TcpListener::bind((&**host, *port)).await.map(Self::Inet).map_err(Into::into)
            }
            Listen::Unix(path) => unix(path, mode).map(|listener| Self::Unix(listener, path.clone())),
        };
        opened.with_context(|| format!("cannot listen on {listen} (milter.listen)"))
    }

    /// Where, with the port that was chosen.
    pub(super) fn address(&self) -> Listen {
        match self {
            Self::Inet(listener) => match listener.local_addr() {
                Ok(address) => Listen::Inet { host: address.ip().to_string(), port: address.port() },
                // It is bound: this cannot fail, and is only said.
                Err(_) => Listen::Inet { host: "?".into(), port: 0 },
            },
            Self::Unix(_, path) => Listen::Unix(path.clone()),
        }
    }

    /// Whether other machines can connect.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Inet(listener) => !listener.local_addr().is_ok_and(|address| address.ip().is_loopback()),
            Self::Unix(..) => false,
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Inet(listener) => {
                let (stream, _) = listener.accept().await?;
                // Somebody waits for every packet.
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
            Self::Unix(listener, _) => Ok(Box::new(listener.accept().await?.0)),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // Somebody may have removed it.
            let _removed = fs::remove_file(path);
        }
    }
}

fn unix(path: &Path, mode: SocketMode) -> anyhow::Result<UnixListener> {
    let is_socket = fs::symlink_metadata(path).map(|found| found.file_type().is_socket());
    match is_socket {
        Ok(true) if StdUnixStream::connect(path).is_ok() => bail!("somebody listens there already"),
        Ok(true) => fs::remove_file(path).context("the socket of one who has gone cannot be removed")?,
        Ok(false) => bail!("there is something that is no socket"),
        Err(_) => {}
    }
    // Made under another name, and put in place when its mode is right.
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let made = || {
        let listener = UnixListener::bind(&beside)?;
        fs::set_permissions(&beside, Permissions::from_mode(mode.bits()))?;
        fs::rename(&beside, path)?;
        Ok(listener)
    };
    made()
        .inspect_err(|_: &io::Error| {
            let _there_or_not = fs::remove_file(&beside);
        })
        .map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_in_use_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("milter.sock");
        let (listen, mode) = (Listen::Unix(path.clone()), SocketMode::try_from("0600".to_owned()).unwrap());
        let listener = Listener::open(&listen, mode).await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let error = Listener::open(&listen, mode).await.err().unwrap();
        assert!(format!("{error:#}").contains("somebody listens"), "{error:#}");
        drop(listener);
        assert!(!path.exists());
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "one that was killed leaves it");
        drop(Listener::open(&listen, mode).await.unwrap());
        fs::write(&path, "precious").unwrap();
        assert!(Listener::open(&listen, mode).await.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
