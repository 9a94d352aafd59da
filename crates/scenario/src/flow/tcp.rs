//! TCP's switches, read and written by their declarations.

use crate::flow::congestion;
use crate::language::error::Checked;
use crate::language::reader::Reader;
use crate::language::value;
use goodqueue_tcp::{
    FastOpen, FastRetransmitGuard, Handshake, Profile, Recovery, RtoConfig, RttEstimatorConfig,
    TcpConfig,
};
use goodqueue_types::Span;
use goodqueue_types::parameters::{Parameter, Parameters, Value};

/// Keys of `rto` that belong to the estimator `rfc6298`.
const GAINS: [&str; 2] = ["srtt_gain", "rttvar_gain"];

/// The table `[tcp]` of a scenario, and the profile of flows that name none.
#[derive(Clone, Copy)]
pub(crate) struct CommonTcp<'a> {
    pub table: Option<&'a Reader<'a>>,
    pub usual: Profile,
}

impl<'a> CommonTcp<'a> {
    /// Returns the tables of a flow, whose own table has priority and comes last.
    fn with<'b>(self, own: Option<&'b Reader<'b>>) -> impl Iterator<Item = &'b Reader<'b>> + Clone
    where
        'a: 'b,
    {
        [self.table, own].into_iter().flatten()
    }
}

/// Returns the profile that flows have if they name none. It is the only thing that the versions of
/// the format disagree on.
pub(crate) fn usual_profile(schema_version: u64) -> Profile {
    match schema_version {
        1 => Profile::Rfc,
        _ => Profile::Linux,
    }
}

/// Reads the configuration of a flow: its profile, then `[tcp]`, then its own table.
pub(crate) fn read(common: CommonTcp<'_>, own: Option<&Reader<'_>>) -> Checked<TcpConfig> {
    let tables = common.with(own);
    let profile = named_profile(tables.clone())?.unwrap_or(common.usual);
    let mut config = TcpConfig::profile(profile);
    for table in tables.clone() {
        read_table(table, &mut config)?;
        check(table, &config)?;
    }
    if !tables.into_iter().any(|table| table.get("mss").is_some()) {
        let usual = TcpConfig::profile(profile);
        config.mss = (usual.mss + usual.accecn_room()).saturating_sub(config.accecn_room());
    }
    Ok(config)
}

/// Returns the last profile that the tables name.
fn named_profile<'a>(tables: impl Iterator<Item = &'a Reader<'a>>) -> Checked<Option<Profile>> {
    let mut named = None;
    for table in tables {
        if let Some(word) = table.choice("profile")? {
            named = Some(Profile::from_value(Value::Word(word)));
        }
    }
    Ok(named)
}

/// Returns true if the version of the format decides the configuration of a flow: its tables name no
/// profile, and not every key, as a resolved scenario does.
pub(crate) fn is_assumed(common: CommonTcp<'_>, own: Option<&Reader<'_>>) -> Checked<bool> {
    if named_profile(common.with(own))?.is_some() {
        return Ok(false);
    }
    let config = read(common, own)?;
    let others = [Profile::Rfc, Profile::Linux].map(|usual| CommonTcp { usual, ..common });
    Ok(others
        .into_iter()
        .any(|other| read(other, own).ok().as_ref() != Some(&config)))
}

fn read_table(table: &Reader<'_>, config: &mut TcpConfig) -> Checked<()> {
    congestion::read(table, &mut config.congestion_control)?;
    if let Some(rto) = table.table("rto")? {
        read_estimator(&rto, &mut config.rto)?;
    }
    let mut given = table.given("profile")?;
    let read = ["congestion_control", "alpha", "beta"];
    given.0.retain(|(key, _)| !read.contains(&key.name));
    config.apply(&given);
    congestion::imply_ecn(table, config);
    Ok(())
}

/// Reads the estimator, which brings the default gains, and refuses gains that belong to another.
fn read_estimator(table: &Reader<'_>, config: &mut RtoConfig) -> Checked<()> {
    if let Some(word) = table.choice("estimator")? {
        let RtoConfig {
            srtt_gain,
            rttvar_gain,
            ..
        } = RtoConfig::default();
        *config = RtoConfig {
            estimator: RttEstimatorConfig::from_value(Value::Word(word)),
            srtt_gain,
            rttvar_gain,
            ..*config
        };
    }
    let other = config.estimator != RttEstimatorConfig::Rfc6298;
    match GAINS.iter().find_map(|key| table.get(key)) {
        Some(field) if other => {
            let key = field.key.name;
            let help = format!("add estimator = \"rfc6298\", or leave {key} out");
            Err(field.problem(format!("\"{key}\" belongs to rfc6298"), help))
        }
        _ => Ok(()),
    }
}

/// Checks relations between switches.
fn check(table: &Reader<'_>, config: &TcpConfig) -> Checked<()> {
    if config.mss + u32::from(config.header) > 65_535 {
        let help = "IP packets have at most 65535 bytes: write a smaller mss";
        return Err(table.problem("mss", "segment and header exceed an IP packet", help));
    }
    if config.fast_open != FastOpen::Off && config.handshake == Handshake::OneWay {
        let help = "write handshake = \"three_way\", or leave fast_open out";
        return Err(table.problem("fast_open", "a one-way handshake has no Fast Open", help));
    }
    congestion::check(table, config)?;
    check_guard(table, config)?;
    let rto = &config.rto;
    if rto.minimum > rto.maximum || rto.initial > rto.maximum {
        let message = "the timer's maximum is below its minimum or initial value";
        return Err(table.problem("rto", message, "write a larger \"maximum\""));
    }
    if rto.estimator == RttEstimatorConfig::Ns2Ticks && rto.granularity == Span::ZERO {
        let message = "the estimator \"ns2_ticks\" counts ticks, and \"granularity\" is 0";
        return Err(table.problem("rto", message, "write granularity = \"10ms\", as in ns-2"));
    }
    if config
        .details
        .rto_after_syn_loss
        .is_some_and(|rto_min| rto_min > rto.maximum)
    {
        let message = "\"details.rto_after_syn_loss\" is above the timer's maximum";
        return Err(table.problem("rto", message, "write a larger \"maximum\""));
    }
    Ok(())
}

/// Checks the guard against duplicate ACKs. A fast retransmit of data that had arrived is answered
/// by a duplicate ACK. If one duplicate suffices, that ACK must not start the next fast retransmit.
fn check_guard(table: &Reader<'_>, config: &TcpConfig) -> Checked<()> {
    let details = &config.details;
    let guarded = !details.new_ack_lifts_guard
        && (config.recovery == Recovery::NewReno
            || details.fast_retransmit_guard == FastRetransmitGuard::Always);
    let counts = matches!(config.recovery, Recovery::Reno | Recovery::NewReno);
    if config.duplicate_ack_threshold > 1 || guarded || !counts {
        return Ok(());
    }
    let message = "one duplicate ACK starts a fast retransmit, and its own duplicate the next";
    let help = "write duplicate_ack_threshold = 3, or details = { fast_retransmit_guard = \
                \"always\", new_ack_lifts_guard = false }";
    Err(table.problem("duplicate_ack_threshold", message, help))
}

/// Writes every switch as an inline TOML table that reads back the same. Tables come last.
pub(crate) fn write(config: &TcpConfig) -> String {
    let mut given = config.all();
    given.0.retain(|(key, _)| key.name != "congestion_control");
    given
        .0
        .sort_by_key(|(_, value)| matches!(value, Value::Table(_)));
    if config.rto.estimator != RttEstimatorConfig::Rfc6298 {
        for (_, value) in &mut given.0 {
            if let Value::Table(table) = value {
                table.given.0.retain(|(key, _)| !GAINS.contains(&key.name));
            }
        }
    }
    let mut items = congestion::write(&config.congestion_control);
    items.extend(value::assignments(&given));
    format!("{{ {} }}", items.join(", "))
}
