//! Sends data with quinn over real sockets in real time, to compare a simulated transfer with.
//!
//! Endpoints have the transport, the TLS and the certificate of the simulated ones. Between them and the
//! kernel is quinn's own driver, on one thread of tokio.

use goodqueue_quinn::{Control, Quinn, real};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

const USAGE: &str = "\
usage: goodqueue-quinn-real server ADDRESS
       goodqueue-quinn-real client ADDRESS BYTES CONTROL

The server listens until it is stopped. The client sends BYTES under CONTROL (reno, cubic or bbr), and prints
the times of its handshake and transfer in seconds, and the packets that it took for lost, as JSON.
";

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn address(text: &str) -> Result<SocketAddr, std::io::Error> {
    let none = || std::io::Error::other(format!("{text} is no address"));
    text.to_socket_addrs()?.next().ok_or_else(none)
}

/// Reads all streams of all connections to their ends.
async fn serve(address: SocketAddr) -> Outcome {
    let (config, server) = real::server(&Quinn::bulk(Control::Cubic));
    let runtime = Arc::new(quinn::TokioRuntime);
    let endpoint = quinn::Endpoint::new(config, Some(server), UdpSocket::bind(address)?, runtime)?;
    while let Some(incoming) = endpoint.accept().await {
        let connection = incoming.await?;
        tokio::spawn(async move {
            while let Ok(mut stream) = connection.accept_uni().await {
                while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
            }
        });
    }
    Ok(())
}

async fn send(server: SocketAddr, bytes: usize, control: Control) -> Outcome {
    let (config, client) = real::client(&Quinn::bulk(control));
    let runtime = Arc::new(quinn::TokioRuntime);
    let endpoint = quinn::Endpoint::new(config, None, UdpSocket::bind("0.0.0.0:0")?, runtime)?;
    let begun = Instant::now();
    let connection = endpoint.connect_with(client, server, real::SERVER)?.await?;
    let handshake = begun.elapsed().as_secs_f64();
    let mut stream = connection.open_uni().await?;
    let block = vec![0; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        left -= stream.write(&block[..left.min(block.len())]).await?;
    }
    stream.finish()?;
    stream.stopped().await?;
    let transfer = begun.elapsed().as_secs_f64();
    let path = connection.stats().path;
    let (lost, sent) = (path.lost_packets, path.sent_packets);
    println!(
        "{{\"handshake_s\": {handshake}, \"transfer_s\": {transfer}, \"lost_packets\": {lost}, \"sent_packets\": {sent}}}"
    );
    Ok(())
}

async fn run(words: &[&str]) -> Outcome {
    match words {
        ["server", at] => serve(address(at)?).await,
        ["client", at, bytes, control] => {
            let known = Control::WORDS.iter().find(|(word, _)| word == control);
            let (_, control) = known.ok_or("CONTROL is reno, cubic or bbr")?;
            send(address(at)?, bytes.parse()?, *control).await
        }
        _ => Err(USAGE.into()),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let failed = real::with_seed(|| {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let done = match builder.enable_all().build() {
            Ok(runtime) => runtime.block_on(run(&words)),
            Err(error) => Err(error.into()),
        };
        done.err().map(|error| error.to_string())
    });
    match failed {
        None => ExitCode::SUCCESS,
        Some(message) => {
            eprintln!("error: {message}");
            ExitCode::from(1)
        }
    }
}
