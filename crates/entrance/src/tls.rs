//! The certificates of the entrance, and what its TLS accepts: versions 1.2 and 1.3 by rustls, with
//! the cryptography of ring.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{self, Ticketer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, ProducesTickets, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with those that signed it, and its key, in PEM.
pub struct Pair {
    pub cert: String,
    pub key: String,
    /// The names that select it, in lower case: `a.example`, or `*.example`.
    pub names: Vec<String>,
}

/// What the TLS of an entrance is made of.
#[derive(Default)]
pub struct Material {
    /// The first is for names that no other one has.
    pub pairs: Vec<Pair>,
    /// PEM of the authorities whose certificates clients may show. `None`: none are asked for.
    pub client_ca: Option<String>,
    /// Refuses TLS 1.2.
    pub only_tls13: bool,
}

#[derive(Default)]
pub struct Tls {
    /// `None` before the first certificate.
    config: RwLock<Option<Arc<ServerConfig>>>,
    /// Survives a change of certificates, so that clients resume their sessions.
    tickets: Mutex<Option<Tickets>>,
}

/// A ticket carries the certificate that its client has shown, so tickets end with the authorities
/// by which that one was checked.
struct Tickets {
    client_ca: Option<String>,
    ticketer: Arc<dyn ProducesTickets>,
}

impl Tls {
    pub fn config(&self) -> Option<Arc<ServerConfig>> {
        self.config.read().clone()
    }

    /// For handshakes that begin later. With an error, the previous certificates stay in use.
    pub fn set(&self, material: &Material) -> Result<(), String> {
        let provider = Arc::new(ring::default_provider());
        let versions: &[_] = if material.only_tls13 {
            &[&rustls::version::TLS13]
        } else {
            &[&rustls::version::TLS13, &rustls::version::TLS12]
        };
        let certificates = Certificates::new(&material.pairs, &provider)?;
        let builder =
            ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions).map_err(text)?;
        let builder = match &material.client_ca {
            None => builder.with_no_client_auth(),
            Some(pem) => builder.with_client_cert_verifier(verifier(pem, provider)?),
        };
        let mut config = builder.with_cert_resolver(Arc::new(certificates));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config.ticketer = self.ticketer(material.client_ca.as_deref())?;
        // Early data saves a round trip, and anybody who has recorded it could send it again.
        config.max_early_data_size = 0;
        *self.config.write() = Some(Arc::new(config));
        Ok(())
    }

    fn ticketer(&self, client_ca: Option<&str>) -> Result<Arc<dyn ProducesTickets>, String> {
        let mut tickets = self.tickets.lock();
        if let Some(known) = tickets.as_ref().filter(|known| known.client_ca.as_deref() == client_ca) {
            return Ok(known.ticketer.clone());
        }
        let ticketer = Ticketer::new().map_err(text)?;
        *tickets = Some(Tickets { client_ca: client_ca.map(str::to_owned), ticketer: ticketer.clone() });
        Ok(ticketer)
    }
}

fn certified(pair: &Pair, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, String> {
    let read = || {
        let chain =
            CertificateDer::pem_slice_iter(pair.cert.as_bytes()).collect::<Result<Vec<_>, _>>().map_err(text)?;
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).map_err(text)?;
        CertifiedKey::from_der(chain, key, provider).map(Arc::new).map_err(text)
    };
    read().map_err(|error| match pair.names.as_slice() {
        [] => error,
        names => format!("that of {}: {error}", names.join(", ")),
    })
}

/// A client may come without a certificate: the gateway knows which routes need one. A certificate
/// that no authority has signed ends the handshake.
fn verifier(pem: &str, provider: Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate.map_err(text)?).map_err(text)?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    builder.allow_unauthenticated().build().map_err(text)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Chooses by the name that the client asks for: a whole name precedes a wildcard, and the first
/// certificate is for all other names.
#[derive(Debug)]
struct Certificates {
    first: Arc<CertifiedKey>,
    whole: HashMap<String, Arc<CertifiedKey>>,
    /// By the name without its first label: `*.example` is at `example`.
    wildcard: HashMap<String, Arc<CertifiedKey>>,
}

impl Certificates {
    fn new(pairs: &[Pair], provider: &CryptoProvider) -> Result<Self, String> {
        let first = certified(pairs.first().ok_or("there is no certificate")?, provider)?;
        let (mut whole, mut wildcard) = (HashMap::new(), HashMap::new());
        for (at, pair) in pairs.iter().enumerate() {
            let key = if at == 0 { first.clone() } else { certified(pair, provider)? };
            for name in &pair.names {
                let (map, name) = match name.strip_prefix("*.") {
                    Some(rest) => (&mut wildcard, rest),
                    None => (&mut whole, name.as_str()),
                };
                map.entry(name.to_owned()).or_insert_with(|| key.clone());
            }
        }
        Ok(Self { first, whole, wildcard })
    }

    fn of(&self, name: &str) -> &Arc<CertifiedKey> {
        let name = name.to_ascii_lowercase();
        let by_wildcard = || name.split_once('.').and_then(|(_, rest)| self.wildcard.get(rest));
        self.whole.get(&name).or_else(by_wildcard).unwrap_or(&self.first)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(hello.server_name().map_or(&self.first, |name| self.of(name)).clone())
    }
}
