//! Probes of real paths, on Linux only.

#[cfg(target_os = "linux")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "pyo3 passes owned values to functions"
)]
mod sockets {
    use crate::run::worker::{Shared, interruptible};
    use goodqueue_probe::Cost;
    use goodqueue_probe::net::client::{self, Probed, User, Wanted};
    use goodqueue_probe::net::server::{Limits, Server};
    use goodqueue_probe::net::{NetError, Token};
    use pyo3::exceptions::{PyOSError, PyRuntimeError};
    use pyo3::prelude::*;
    use std::net::{SocketAddr, ToSocketAddrs};
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    /// Serves probes until a signal's handler raises. `log` is called with a line for each event, the
    /// first of which is the address.
    #[pyfunction]
    pub fn probe_serve(
        py: Python<'_>,
        address: &str,
        token: PathBuf,
        most_bps: u64,
        longest_s: f64,
        sessions: usize,
        log: Py<PyAny>,
    ) -> PyResult<()> {
        let limits = Limits {
            most_bps,
            longest: Duration::try_from_secs_f64(longest_s).unwrap_or_default(),
            sessions,
        };
        let token = Token::read(&token).map_err(error_of)?;
        let address = resolved(address)?;
        let server = Server::bind(address, token, limits).map_err(error_of)?;
        let (lines, news) = channel();
        let bound = server.address().map_err(error_of)?;
        lines.send(format!("listening on {bound}")).ok();
        let lines = Mutex::new(lines);
        let shared = Shared::default();
        let running = shared.clone();
        let tell = || {
            news.try_iter()
                .try_for_each(|line: String| log.call1(py, (line,)).map(drop))
        };
        let outcome = interruptible(py, &shared, tell, move || {
            let log = |line| {
                lines.lock().expect("no thread panics").send(line).ok();
            };
            server.serve(&|| running.go_on(0), &log)
        })?;
        outcome.map_err(error_of)
    }

    /// Probes the path to a server. Returns the results as JSON, the RTTs of the idle path, and for
    /// each TCP load the RTTs beside and within it over time. `begins` is called with the name of each part, and `agrees`
    /// with seconds and bytes before the parts that fill the buffer.
    #[pyfunction]
    pub fn probe_path(
        py: Python<'_>,
        address: &str,
        token: PathBuf,
        most_bps: u64,
        tcp_ms: u32,
        begins: Py<PyAny>,
        agrees: Py<PyAny>,
    ) -> PyResult<Found> {
        let token = Token::read(&token).map_err(error_of)?;
        let server = resolved(address)?;
        let wanted = Wanted { most_bps, tcp_ms };
        let (questions, asked) = channel();
        let (answers, answered) = channel();
        let shared = Shared::default();
        let person = Person {
            shared: shared.clone(),
            questions: Mutex::new(questions),
            answered: Mutex::new(answered),
        };
        let tell = || answer(py, &asked, &answers, &begins, &agrees);
        let work = move || client::probe(server, &token, wanted, &person);
        let probed = interruptible(py, &shared, tell, work)?.map_err(error_of)?;
        tell()?;
        found(probed)
    }

    /// RTTs over time.
    type Rtts = Vec<(f64, f64)>;

    /// Results as JSON, RTTs of the idle path, and RTTs of the pings beside and of the packets within
    /// each TCP load.
    type Found = (String, Vec<f64>, Vec<(Rtts, Rtts)>);

    fn found(probed: Probed) -> PyResult<Found> {
        let text = serde_json::to_string(&probed);
        let text = text.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let loads = probed.tcp.into_iter();
        let loads = loads.map(|load| (load.rtts, load.flow_rtts));
        Ok((text, probed.idle_rtts, loads.collect()))
    }

    /// Event of a probe.
    enum News {
        Begins(String),
        Asks(Cost),
    }

    /// The user, who is asked on the thread that handles signals.
    struct Person {
        shared: Shared,
        questions: Mutex<Sender<News>>,
        answered: Mutex<Receiver<bool>>,
    }

    impl User for Person {
        fn go_on(&self) -> bool {
            self.shared.go_on(0)
        }

        fn begins(&self, what: &str) {
            let questions = self.questions.lock().expect("no thread panics");
            questions.send(News::Begins(what.to_owned())).ok();
        }

        fn agrees(&self, cost: &Cost) -> bool {
            let questions = self.questions.lock().expect("no thread panics");
            questions.send(News::Asks(*cost)).ok();
            let answered = self.answered.lock().expect("no thread panics");
            answered.recv().unwrap_or(false)
        }
    }

    fn answer(
        py: Python<'_>,
        asked: &Receiver<News>,
        answers: &Sender<bool>,
        begins: &Py<PyAny>,
        agrees: &Py<PyAny>,
    ) -> PyResult<()> {
        for news in asked.try_iter() {
            match news {
                News::Begins(what) => drop(begins.call1(py, (what,))?),
                News::Asks(cost) => {
                    let reply = agrees.call1(py, (cost.seconds, cost.bytes))?;
                    answers.send(reply.extract(py)?).ok();
                }
            }
        }
        Ok(())
    }

    /// Returns the first address of a host and a port, as in `host:4823`.
    fn resolved(address: &str) -> PyResult<SocketAddr> {
        let mut found = address
            .to_socket_addrs()
            .map_err(|error| PyRuntimeError::new_err(format!("{address}: {error}")))?;
        let none = || PyRuntimeError::new_err(format!("{address}: no address"));
        found.next().ok_or_else(none)
    }

    fn error_of(error: NetError) -> PyErr {
        match error {
            NetError::Io(error) => PyOSError::new_err(error.to_string()),
            other => PyRuntimeError::new_err(other.to_string()),
        }
    }
}

#[cfg(target_os = "linux")]
pub use sockets::{probe_path, probe_serve};
