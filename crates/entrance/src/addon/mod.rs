//! The interface for JavaScript. A panic in an exported function becomes an exception
//! (`catch_unwind`). Hooks and callbacks have their own guard, since a panic must not cross into C.

mod channel;
mod edges;
#[cfg(debug_assertions)]
mod faults;
mod options;

use std::collections::HashMap;
use std::net::{TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::{Error, Result, Status};
use napi_derive::napi;

use crate::direct::templates::Templates;
use crate::entrance::{Command, Entrance};
use crate::io::thread::start;
use crate::tls::{Material, Pair};
use crate::worker::queue_times::SUM_UNITS;
use edges::DirectEdge;
use options::{DirectOptions, EntranceOptions, InstanceOptions, RouteOptions, TemplateOptions, limits_of};

/// PEM, and the names that select it.
#[napi(object)]
pub struct CertificatePair {
    pub cert: String,
    pub key: String,
    pub names: Vec<String>,
}

#[napi(object)]
#[derive(Default)]
pub struct TlsOptions {
    /// PEM. Clients are asked for a certificate that one of these has signed.
    pub client_ca: Option<String>,
    pub only_tls13: Option<bool>,
}

#[napi(object)]
pub struct BoundAddress {
    pub address: String,
    pub port: u16,
}

/// Created by the main thread, before any worker uses the add-on.
#[napi]
pub struct NativeEntrance {
    inner: Arc<Entrance>,
    id: u32,
    listeners: Vec<TcpListener>,
}

#[napi]
impl NativeEntrance {
    #[napi(constructor, catch_unwind)]
    pub fn new(options: EntranceOptions) -> Result<Self> {
        let threads = options.threads.unwrap_or(1) as usize;
        let (id, inner) = start(limits_of(&options), threads).map_err(failed)?;
        Ok(Self { inner, id, listeners: Vec::new() })
    }

    /// Workers find the entrance by this number.
    #[napi(getter, catch_unwind)]
    pub fn id(&self) -> u32 {
        self.id
    }

    #[napi(catch_unwind)]
    pub fn listen(&mut self, host: String, port: u16, secure: Option<bool>) -> Result<BoundAddress> {
        let address = (host.as_str(), port).to_socket_addrs().map_err(failed)?.next();
        let address = address.ok_or_else(|| Error::from_reason(format!("{host} has no address")))?;
        let listener = TcpListener::bind(address).map_err(failed)?;
        lengthen_queue(&listener);
        let bound = listener.local_addr().map_err(failed)?;
        self.inner.listen(&listener, secure.unwrap_or(false)).map_err(failed)?;
        self.listeners.push(listener);
        Ok(BoundAddress { address: bound.ip().to_string(), port: bound.port() })
    }

    /// For handshakes that begin later. The first pair is for names that no certificate has. With
    /// an error, the previous certificates stay in use.
    #[napi(catch_unwind)]
    pub fn set_certificates(&self, pairs: Vec<CertificatePair>, options: Option<TlsOptions>) -> Result<()> {
        let pair_of = |CertificatePair { cert, key, names }| Pair { cert, key, names };
        let TlsOptions { client_ca, only_tls13 } = options.unwrap_or_default();
        let pairs = pairs.into_iter().map(pair_of).collect();
        let material = Material { pairs, client_ca, only_tls13: only_tls13.unwrap_or(false) };
        self.inner.tls.set(&material).map_err(Error::from_reason)
    }

    #[napi(catch_unwind)]
    pub fn unlisten(&mut self) {
        self.listeners.clear();
        self.inner.command_all(|| Command::Unlisten);
    }

    #[napi(catch_unwind)]
    pub fn expect_worker(&self, is_expected: bool) {
        self.inner.expect_worker(is_expected);
    }

    /// Closes each connection that has been idle for so many milliseconds.
    #[napi(catch_unwind)]
    pub fn drain(&self, quiet: u32) {
        self.inner.command_all(|| Command::Drain(u64::from(quiet)));
    }

    #[napi(catch_unwind)]
    pub fn cut(&self) {
        self.inner.command_all(|| Command::Cut);
    }

    /// Ends its threads and all connections.
    #[napi(catch_unwind)]
    pub fn close(&mut self) {
        self.listeners.clear();
        self.inner.close(self.id);
    }

    #[napi(getter, catch_unwind)]
    pub fn open(&self) -> f64 {
        self.inner.stats.open.load(Ordering::Relaxed) as f64
    }

    #[napi(catch_unwind)]
    pub fn stats(&self) -> HashMap<String, f64> {
        let mut all = HashMap::new();
        self.inner.stats.each(self.inner.limits.problems, |name, value| {
            all.insert(name, value as f64);
        });
        let workers = self.inner.registry.all();
        all.insert("workers".to_owned(), workers.len() as f64);
        let in_flight: u32 = workers.iter().map(|worker| worker.in_flight.load(Ordering::Relaxed)).sum();
        let in_flight = in_flight + self.inner.direct.in_flight();
        all.insert("in_flight".to_owned(), f64::from(in_flight));
        all
    }

    /// The requests that instances got without a worker between, since the last time.
    #[napi(catch_unwind)]
    pub fn take_direct_edges(&self) -> Vec<DirectEdge> {
        self.inner.direct.counts.take().into_iter().map(Into::into).collect()
    }

    /// The app's routes, and the services that are reached without a worker between.
    #[napi(catch_unwind)]
    pub fn set_routes(&self, routes: Vec<RouteOptions>, direct: Vec<String>, options: DirectOptions) {
        let routes = routes.into_iter().map(Into::into).collect();
        for target in self.inner.direct.set(routes, &direct, options.into()) {
            self.inner.threads[0].command(Command::Serve(target));
        }
    }

    /// All that serve now.
    #[napi(catch_unwind)]
    pub fn set_instances(&self, instances: Vec<InstanceOptions>) {
        let instances: Vec<_> = instances.into_iter().filter_map(InstanceOptions::instance).collect();
        self.inner.direct.set_instances(&instances);
    }

    /// Requests that are with an instance, also if it serves no more.
    #[napi(catch_unwind)]
    pub fn requests_at(&self, instance: InstanceOptions) -> u32 {
        instance.instance().map_or(0, |(_, instance)| self.inner.direct.requests_at(&instance.address))
    }

    /// The path templates of all services, by which requests are counted.
    #[napi(catch_unwind)]
    pub fn set_templates(&self, templates: Vec<TemplateOptions>) {
        self.inner.direct.set_templates(Templates::new(templates.into_iter().map(Into::into)));
    }

    /// The number of requests that waited up to each bound for their handler, the number of those
    /// that waited longer, and the sum of all times in milliseconds.
    #[napi(catch_unwind)]
    pub fn queue_times(&self) -> Vec<f64> {
        self.inner.queue_times.collect(&self.inner.registry.all());
        let mut totals = self.inner.queue_times.totals().map(|total| total as f64).to_vec();
        if let Some(sum) = totals.last_mut() {
            *sum /= SUM_UNITS as f64;
        }
        totals
    }
}

/// The standard library's backlog is too short for bursts. The kernel's limit still applies.
fn lengthen_queue(listener: &TcpListener) {
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open. A second `listen` only changes the backlog.
        unsafe { libc::listen(listener.as_raw_fd(), 4096) };
    }
    #[cfg(not(unix))]
    let _ = listener;
}

/// The message begins with Node's code of the error.
fn failed(error: std::io::Error) -> Error {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    let code = match error.kind() {
        AddrInUse => "EADDRINUSE: ",
        AddrNotAvailable => "EADDRNOTAVAIL: ",
        PermissionDenied => "EACCES: ",
        _ => "",
    };
    Error::new(Status::GenericFailure, format!("{code}{error}"))
}
