//! Namespaces of Linux: what an ordinary user needs to have networks of his own.

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{Gid, Uid};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

/// Enters a new user namespace, in which the present user has the number `inside`, together with
/// other new namespaces.
///
/// The process must have one thread.
///
/// # Errors
/// Returns the kernel's error, and the step that failed.
pub fn enter_as(inside: u32, other: CloneFlags) -> Result<(), (&'static str, io::Error)> {
    let (user, group) = (Uid::effective(), Gid::effective());
    unshare(CloneFlags::CLONE_NEWUSER | other)
        .map_err(|error| ("making a user namespace", error.into()))?;
    let write = |file: &str, text: String| {
        fs::write(file, text).map_err(|error| ("setting the users of a namespace", error))
    };
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{inside} {user} 1"))?;
    write("/proc/self/gid_map", format!("{inside} {group} 1"))
}

/// A network namespace without a name. It lasts as long as this value or a process in it.
#[derive(Debug)]
pub struct NetworkNamespace {
    handle: File,
}

impl NetworkNamespace {
    /// Returns the network namespace that this file stands for, as one of `/proc/PID/ns/net` does.
    pub fn from_file(handle: File) -> Self {
        Self { handle }
    }

    /// Makes a network namespace and returns it with what `set_up` made in it.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn with<T: Send>(set_up: impl FnOnce() -> io::Result<T> + Send) -> io::Result<(Self, T)> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let handle = File::open("/proc/thread-self/ns/net")?;
            Ok((Self { handle }, set_up()?))
        })
    }

    /// Calls `work` in this namespace.
    ///
    /// # Errors
    /// Returns the kernel's error, or that of `work`.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        in_thread(|| {
            setns(&self.handle, CloneFlags::CLONE_NEWNET)?;
            work()
        })
    }
}

impl AsFd for NetworkNamespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Calls `work` in a thread of its own, which takes its network namespace with it when it ends.
fn in_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|_| Err(io::Error::other("a thread failed")))
}
