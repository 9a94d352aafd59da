//! The registry of workloads over one TCP connection: data in bulk, and data that are answered.

use super::{EchoReply, KIND};
use goodqueue_types::parameters::{AMOUNT, Key, Kind, Refusal, one_of};
use goodqueue_types::variants;

const SIZE: Key = one_of(&[AMOUNT, Kind::Choice(&["unlimited"])])
    .named("size")
    .example("10MB")
    .doc("Application bytes to send from client to server; then the connection closes.");

variants! {
    /// Data of one TCP connection, from client to server.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum StreamConfig(KIND) {
        /// Data that the server only receives.
        Bulk = "bulk"("bulk") {
            bytes: Option<u64> = None => SIZE;
        },
        /// Data that the server answers.
        Echo = "echo"("echo") {
            bytes: Option<u64> = None => SIZE;
            /// Answer of the server to each piece that its TCP delivers (a segment, or several that had waited for one
            /// before them): bytes, or a share of the piece, rounded down to a byte at least.
            reply: EchoReply = EchoReply::Bytes(1)
                => one_of(&[AMOUNT, Kind::Percent]).required().example("3B");
        },
    }
}

impl StreamConfig {
    /// Returns the bytes that the client sends. None for data without end.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Bulk { bytes } | Self::Echo { bytes, .. } => *bytes,
        }
    }

    /// Checks that the parameters work together.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Echo {
                reply: EchoReply::Share(share),
                ..
            } if *share <= 0.0 => {
                let help =
                    "write more than \"0%\", or kind = \"bulk\" for a server that does not answer";
                Err(Refusal::new("reply", "an echo of nothing", help))
            }
            _ => Ok(()),
        }
    }
}
