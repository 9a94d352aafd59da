//! TLS of both ends. The server has a committed certificate, which the client trusts and verifies.
//!
//! ring draws the keys of a handshake from the operating system. They change the bytes on the wire, but
//! no size and no time: the signature is Ed25519 and the key exchange X25519, both of fixed length.

use quinn_proto::crypto::HandshakeTokenKey;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use ring::hkdf;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use std::sync::Arc;
use std::time::Duration;

/// Name in the certificate.
pub const SERVER: &str = "server.example";
/// Self-signed certificate of the key below.
const CERTIFICATE: &[u8] = include_bytes!("server.der");
/// PKCS #8 (RFC 8410) of an Ed25519 key.
const PKCS8: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
/// Its seed, which protects nothing.
const KEY: [u8; 32] = *b"goodqueue example: not a secret!";
/// Application protocol.
const PROTOCOL: &[u8] = b"goodqueue";

/// A clock that stands at 1 January 2030, between the dates of the certificate.
#[derive(Debug)]
struct Fixed;

impl TimeProvider for Fixed {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(
            1_893_456_000,
        )))
    }
}

/// Returns the configuration of clients.
pub fn client() -> Arc<QuicClientConfig> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_slice(CERTIFICATE))
        .expect("the certificate is whole");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_details(provider, Arc::new(Fixed))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    Arc::new(QuicClientConfig::try_from(config).expect("ring has AES-128"))
}

/// Returns the configuration of servers.
pub fn server() -> Arc<QuicServerConfig> {
    let key = PrivatePkcs8KeyDer::from([PKCS8.as_slice(), &KEY].concat());
    let chain = vec![CertificateDer::from_slice(CERTIFICATE)];
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_details(provider, Arc::new(Fixed))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::Pkcs8(key))
        .expect("the key belongs to the certificate");
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.send_tls13_tickets = 0;
    Arc::new(QuicServerConfig::try_from(config).expect("ring has AES-128"))
}

/// Returns the key with which a server protects tokens for later connections.
pub fn token_key(secret: &[u8]) -> Arc<dyn HandshakeTokenKey> {
    Arc::new(hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(secret))
}
