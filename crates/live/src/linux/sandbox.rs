//! The processes of a run, which need no privileges: namespaces keep all that they change from the
//! rest of the machine, and end with them.
//!
//! Only a process with one thread can enter a user namespace, and a namespace of processes begins
//! with a child. Each stage therefore runs the program again:
//!
//! 1. [`enter`] makes the namespaces and starts the next stage in them.
//! 2. [`settle`] is called by that stage, which emulates the network. It is the first process of its
//!    namespace, so the kernel ends all others with it.
//! 3. [`become_program`] turns a further process, in the network of its host, into a program of the
//!    user, without the privileges of the stages before.

use super::namespace::enter_as;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A step that the kernel refused.
#[derive(Debug)]
pub struct Refused {
    /// The step, such as "making a user namespace".
    pub step: &'static str,
    /// The kernel's reason.
    pub error: io::Error,
}

/// Makes the namespaces of a run, starts its next stage in them and waits for its end. Returns its
/// exit code, none if a signal ended it.
///
/// # Errors
/// Returns the step that the kernel refused.
pub fn enter(next: &mut Command) -> Result<Option<i32>, Refused> {
    let others = CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC;
    enter_as(0, others).map_err(|(step, error)| Refused { step, error })?;
    end_with_parent()?;
    let status = next.status();
    let status = status.map_err(refused("starting a process in new namespaces"))?;
    Ok(status.code())
}

/// Gives the first process of a run's namespaces its own view of processes. Its mounts reach
/// nobody else.
///
/// # Errors
/// Returns the step that the kernel refused.
pub fn settle() -> Result<(), Refused> {
    end_with_parent()?;
    mount_all_private()?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, None::<&str>)
        .map_err(refused("mounting /proc"))
}

/// Replaces this process by a program of the user with the number `user`. `hosts` are the lines by
/// which it finds other hosts by name, as in `/etc/hosts`, and `resolver` those of `/etc/resolv.conf`.
///
/// # Errors
/// Returns the step that was refused; it does not return otherwise.
pub fn become_program(user: u32, hosts: &str, resolver: &str, command: &[String]) -> Refused {
    let run = || {
        name_hosts(hosts, resolver)?;
        if user != 0 {
            enter_as(user, CloneFlags::empty()).map_err(|(step, error)| Refused { step, error })?;
        }
        let [program, arguments @ ..] = command else {
            return Ok(());
        };
        let error = Command::new(program).args(arguments).exec();
        Err(refused("starting the program")(error))
    };
    let nothing = || refused("starting the program")(io::Error::other("it has no name"));
    run().err().unwrap_or_else(nothing)
}

/// Puts these lines in the place of `/etc/hosts` and `/etc/resolv.conf`, for this process and its
/// children.
fn name_hosts(hosts: &str, resolver: &str) -> Result<(), Refused> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(refused("making a mount namespace"))?;
    mount_all_private()?;
    // The files need a place only until they are mounted.
    let step = "naming the hosts";
    let size = Some("mode=755,size=64k");
    mount(Some("names"), "/mnt", Some("tmpfs"), MsFlags::empty(), size).map_err(refused(step))?;
    let replace = |place: &str, text: &str| {
        fs::write("/mnt/file", text)?;
        let file = Some("/mnt/file");
        mount(file, place, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
        fs::remove_file("/mnt/file")
    };
    replace("/etc/hosts", hosts).map_err(refused(step))?;
    // A machine without this file needs none.
    replace("/etc/resolv.conf", resolver).ok();
    umount2("/mnt", MntFlags::MNT_DETACH).map_err(refused(step))
}

fn mount_all_private() -> Result<(), Refused> {
    let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)
        .map_err(refused("making mounts private"))
}

/// Lets the kernel end this process when its parent ends.
fn end_with_parent() -> Result<(), Refused> {
    set_pdeathsig(Signal::SIGKILL).map_err(refused("asking for a signal at the parent's end"))
}

fn refused<E: Into<io::Error>>(step: &'static str) -> impl Fn(E) -> Refused {
    move |error| Refused {
        step,
        error: error.into(),
    }
}
