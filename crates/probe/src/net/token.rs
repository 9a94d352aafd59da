//! The secret that both ends of a probe know, and what is derived from it.

use super::NetError;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Bytes of a challenge, of a nonce and of a proof.
pub const SECRET: usize = 32;
/// Bytes of the tag of a datagram.
pub const TAG: usize = 8;
/// Shortest and longest token in bytes.
const TOKEN: std::ops::RangeInclusive<usize> = 16..=4096;

/// A challenge, a nonce or a proof.
pub type Secret = [u8; SECRET];

/// Returns random bytes from the operating system.
///
/// # Errors
/// Returns an error if the operating system has none.
pub fn random() -> Result<Secret, NetError> {
    let mut bytes = [0; SECRET];
    getrandom::fill(&mut bytes).map_err(|error| NetError::Io(std::io::Error::other(error)))?;
    Ok(bytes)
}

/// A key of HMAC-SHA-256 (RFC 2104).
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl Key {
    fn new(bytes: &[u8]) -> Self {
        Self(Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length"))
    }

    fn with(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        mac
    }

    /// Returns the code of these parts, whose lengths must be fixed.
    pub fn sign(&self, parts: &[&[u8]]) -> Secret {
        self.with(parts).finalize().into_bytes().into()
    }

    /// Returns true if `code` is the code of these parts. The time that this takes does not depend on
    /// the code.
    pub fn verify(&self, parts: &[&[u8]], code: &[u8]) -> bool {
        self.with(parts).verify_slice(code).is_ok()
    }

    /// Returns the first bytes of the code of a datagram.
    pub fn tag(&self, datagram: &[u8]) -> [u8; TAG] {
        let mut tag = [0; TAG];
        tag.copy_from_slice(&self.sign(&[datagram])[..TAG]);
        tag
    }

    /// Returns true if `tag` belongs to the datagram, in constant time.
    pub fn has_tag(&self, datagram: &[u8], tag: &[u8]) -> bool {
        tag.len() == TAG && self.with(&[datagram]).verify_truncated_left(tag).is_ok()
    }
}

/// The token, from which the keys of all sessions follow.
#[derive(Clone)]
pub struct Token(Key);

/// Keys of a session. They are different in the two directions, so that no packet can be sent back to
/// its sender.
#[derive(Clone)]
pub struct SessionKeys {
    /// Key of the datagrams by direction.
    pub datagrams: [Key; 2],
    /// Key of further connections of the session.
    pub connections: Key,
}

impl Token {
    /// Reads the token from a file: its first line, of 16 bytes or more.
    ///
    /// # Errors
    /// Refuses a file that other users may read or write, and a token that is too short or too long.
    pub fn read(path: &Path) -> Result<Self, NetError> {
        let name = path.display();
        let unread = |error| NetError::Refused(format!("the token file {name}: {error}"));
        let file = File::open(path).map_err(unread)?;
        let mode = file.metadata().map_err(unread)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(NetError::Refused(format!(
                "other users may use the token file {name}: its mode is {:03o}\n  \
                 help: chmod 600 {name}",
                mode & 0o777
            )));
        }
        let mut text = Vec::new();
        let most = *TOKEN.end() as u64 + 5;
        file.take(most).read_to_end(&mut text).map_err(unread)?;
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        // Some editors write a byte order mark before a text.
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        Self::new(line.trim_ascii()).ok_or_else(|| {
            let (least, most) = (TOKEN.start(), TOKEN.end());
            NetError::Refused(format!(
                "the first line of the token file {name} must have {least} to {most} bytes\n  \
                 help: head -c 24 /dev/urandom | base64 > {name}"
            ))
        })
    }

    /// Returns a token of these bytes, or none if they are too few or too many.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        TOKEN.contains(&bytes.len()).then(|| Self(Key::new(bytes)))
    }

    /// Returns the proof of the client that it knows the token.
    pub fn client_proof(&self, challenge: &Secret, nonce: &Secret) -> Secret {
        self.0.sign(&[b"client", challenge, nonce])
    }

    /// Returns true if the proof of a client is right, in constant time.
    pub fn is_client(&self, challenge: &Secret, nonce: &Secret, proof: &[u8]) -> bool {
        self.0.verify(&[b"client", challenge, nonce], proof)
    }

    /// Returns the proof of the server that it knows the token.
    pub fn server_proof(&self, challenge: &Secret, nonce: &Secret) -> Secret {
        self.0.sign(&[b"server", challenge, nonce])
    }

    /// Returns true if the proof of a server is right, in constant time.
    pub fn is_server(&self, challenge: &Secret, nonce: &Secret, proof: &[u8]) -> bool {
        self.0.verify(&[b"server", challenge, nonce], proof)
    }

    /// Returns the keys of the session that began with this challenge and this nonce.
    pub fn session(&self, challenge: &Secret, nonce: &Secret) -> SessionKeys {
        let key = |label: &[u8; 6]| Key::new(&self.0.sign(&[label, challenge, nonce]));
        SessionKeys {
            datagrams: [key(b"dg.up_"), key(b"dg.dow")],
            connections: key(b"attach"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"a token of tests";

    #[test]
    fn a_proof_holds_for_its_token_its_challenge_and_its_side_only() {
        let token = Token::new(TEXT).unwrap();
        let (challenge, nonce) = ([1; SECRET], [2; SECRET]);
        let proof = token.client_proof(&challenge, &nonce);
        assert!(token.is_client(&challenge, &nonce, &proof));
        assert!(!token.is_client(&[3; SECRET], &nonce, &proof));
        assert!(!token.is_server(&challenge, &nonce, &proof));
        let other = Token::new(b"another token of tests").unwrap();
        assert!(!other.is_client(&challenge, &nonce, &proof));
        assert!(!token.is_client(&challenge, &nonce, &proof[..8]));
    }

    #[test]
    fn codes_are_those_of_rfc_4231() {
        // Test case 2.
        let code = Key::new(b"Jefe").sign(&[b"what do ya want ", b"for nothing?"]);
        assert_eq!(code[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
    }

    #[test]
    fn short_and_long_tokens_are_refused() {
        assert!(Token::new(b"fifteen bytes..").is_none());
        assert!(Token::new(&[b'a'; 4097]).is_none());
    }
}
