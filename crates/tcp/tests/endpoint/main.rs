//! TCP endpoints without a simulator: conversations with a scripted peer, and transfers over a small
//! network.

mod common;
mod conversations;
mod networks;
mod peer;
