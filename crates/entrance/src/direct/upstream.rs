//! Connections to instances, and those that are kept for later requests.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use super::settings::Address;

/// Kept connections of one instance.
const MAX_KEPT: usize = 64;
/// Shorter than the time for which Node's server keeps a connection, so that it does not close one
/// at the moment at which it is used.
const KEPT_FOR: Duration = Duration::from_secs(4);
const CONNECT: Duration = Duration::from_secs(5);
/// As `packages/busbar/src/gateway/forward/lost-instance.ts` waits.
const PROBE: Duration = Duration::from_millis(20);

pub enum Upstream {
    #[cfg(unix)]
    Private(UnixStream),
    Port(TcpStream),
}

impl Upstream {
    /// `caller_port`: what the program sees as its client's port.
    pub async fn open(address: &Address, caller_port: u16) -> io::Result<Self> {
        match tokio::time::timeout(CONNECT, Self::connect(address)).await {
            Ok(Ok(upstream)) => {
                if matches!(address, Address::Private(_)) {
                    // `packages/busbar/src/mesh/sockets/instance/preamble.ts` describes the line.
                    upstream.write(format!("BUSBAR/1 0 - {caller_port} 80\n").as_bytes()).await?;
                }
                Ok(upstream)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    async fn connect(address: &Address) -> io::Result<Self> {
        match address {
            #[cfg(unix)]
            Address::Private(path) => Ok(Self::Private(UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            Address::Private(_) => Err(io::ErrorKind::Unsupported.into()),
            Address::Port(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                let _ = stream.set_nodelay(true);
                Ok(Self::Port(stream))
            }
        }
    }

    /// Returns when all of it is with the kernel.
    pub async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match self {
                #[cfg(unix)]
                Self::Private(stream) => stream.try_write(bytes),
                Self::Port(stream) => stream.try_write(bytes),
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => bytes = &bytes[length..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => match self {
                    #[cfg(unix)]
                    Self::Private(stream) => stream.writable().await?,
                    Self::Port(stream) => stream.writable().await?,
                },
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns 0 at the end.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => match self {
                    #[cfg(unix)]
                    Self::Private(stream) => stream.readable().await?,
                    Self::Port(stream) => stream.readable().await?,
                },
                read => return read,
            }
        }
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Private(stream) => stream.try_read(buffer),
            Self::Port(stream) => stream.try_read(buffer),
        }
    }

    /// True if the connection is still open a moment later. The kernel accepts one for an instance
    /// that is ending, too.
    pub async fn lasts(&self) -> bool {
        tokio::time::sleep(PROBE).await;
        self.is_idle()
    }

    /// Nothing has come, and the other side has not closed it.
    fn is_idle(&self) -> bool {
        matches!(self.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// The kept connections of a service's instances.
#[derive(Default)]
pub struct Pool(RefCell<HashMap<Address, Vec<(Upstream, Instant)>>>);

impl Pool {
    /// The one that was used last.
    pub fn take(&self, address: &Address) -> Option<Upstream> {
        let mut all = self.0.borrow_mut();
        let kept = all.get_mut(address)?;
        while let Some((upstream, since)) = kept.pop() {
            if since.elapsed() < KEPT_FOR && upstream.is_idle() {
                return Some(upstream);
            }
        }
        None
    }

    pub fn keep(&self, address: &Address, upstream: Upstream) {
        let mut all = self.0.borrow_mut();
        let kept = all.entry(address.clone()).or_default();
        if kept.len() < MAX_KEPT {
            kept.push((upstream, Instant::now()));
        }
    }

    /// Closes what was kept for too long, and everything to instances that are gone.
    pub fn clean(&self, is_served: impl Fn(&Address) -> bool) {
        self.0.borrow_mut().retain(|address, kept| {
            kept.retain(|(_, since)| since.elapsed() < KEPT_FOR);
            is_served(address) && !kept.is_empty()
        });
    }
}
