//! Classes of ns-2.35 and the defaults of their variables (`ns-default.tcl`).

use crate::error::{ImportError, quoted, refuse, unknown};

/// Variables of a class and their defaults. A class has those of the classes that its name begins with.
const DEFAULTS: &[(&str, &str)] = &[
    (
        "Agent/TCP",
        "aggressive_maxburst_=1 bugFix_=true bugFix_ack_=false bugFix_ts_=false bugfix_ss_=1 \
         CoarseTimer_=0 control_increase_=0 decrease_num_=0.5 delay_growth_=true ecn_=0 eln_=0 \
         EnblRTTCtr_=0 eln_rxmit_thresh_=1 exitFastRetrans_=true frto_enabled_=0 high_decrease_=0.1 high_p_=0.0000001 \
         high_window_=83000 increase_num_=1.0 k_parameter_=0.0 \
         l_parameter_=1.0 lessCareful_=false low_window_=38 LimTransmitFix_=false max_connects_=-1 max_ssthresh_=0 \
         maxburst_=0 maxcwnd_=0 maxrto_=60 minrto_=0.2 noFastRetrans_=false numdupacks_=3 \
         numdupacksFrac_=-1 old_ecn_=0 oldCode_=false overhead_=0 packetSize_=1000 partial_ack_=false \
         precisionReduce_=true qs_enabled_=false qs_request_mode_=1 qs_rtt_=50 qs_thresh_=4 QOption_=0 rate_request_=0 restart_bugfix_=true \
         rfc2988_=true rttvar_exp_=2 rttvar_init_=12 rtxcur_init_=3.0 SetCWRonRetransmit_=true \
         sfrto_enabled_=0 singledup_=1 slow_start_restart_=true spurious_response_=1 srtt_init_=0 \
         syn_=true tcp_qs_recovery_=true T_RTTVAR_BITS=2 T_SRTT_BITS=3 tcpTick_=0.01 tcpip_base_hdr_size_=40 timerfix_=true \
         timestamps_=false ts_option_size_=10 ts_resetRTO_=false updated_rttvar_=true \
         useHeaders_=true windowConstant_=4 window_=20 windowInit_=2 windowInitOption_=1 \
         windowOption_=1 windowThresh_=0.002",
    ),
    (
        "Agent/TCP/Newreno",
        "newreno_changes_=0 newreno_changes1_=1 partial_window_deflation_=1 exit_recovery_fix_=0",
    ),
    ("Agent/TCP/Vegas", "v_alpha_=1 v_beta_=3 v_gamma_=1"),
    (
        "Agent/TCP/Linux",
        "delay_growth_=false maxrto_=120 ts_resetRTO_=true",
    ),
    ("Agent/TCP/Fack", "rampdown_=false ss-div4_=false"),
    (
        "Agent/TCPSink",
        "packetSize_=40 maxSackBlocks_=3 generateDSacks_=false ecn_syn_=false qs_enabled_=false \
         RFC2581_immediate_ack_=true SYN_immediate_ack_=true ts_echo_bugfix_=true \
         ts_echo_rfc1323_=false interval_=0.1",
    ),
    ("Agent/UDP", "packetSize_=1000"),
    (
        "Queue",
        "limit_=50 ackfromfront_=false acksfirst_=false blocked_=false interleave_=false \
         unblock_on_resume_=true",
    ),
    (
        "Queue/DropTail",
        "drop_front_=false mean_pktsize_=500 queue_in_bytes_=false",
    ),
    (
        "Queue/RED",
        "adaptive_=0 alpha_=0.01 beta_=0.9 bottom_=0 bytes_=true cautious_=0 doubleq_=false drop_front_=false \
         drop_rand_=false drop_tail_=true feng_adaptive_=0 gentle_=true idle_pktsize_=100 interval_=0.5 linterm_=10 \
         mark_p_=0.1 maxthresh_=0 mean_pktsize_=500 ns1_compat_=false q_weight_=-1 \
         queue_in_bytes_=true setbit_=false targetdelay_=0.005 thresh_=0 top_=0.5 use_mark_p_=true wait_=true",
    ),
    (
        "ErrorModel",
        "rate_=0 enable_=1 markecn_=false delay_pkt_=false delay_=0 bandwidth_=2Mb",
    ),
    (
        "ErrorModel/Periodic",
        "period_=1.0 offset_=0.0 burstlen_=0.0 default_drop_=0",
    ),
    (
        "Application/Traffic/CBR",
        "packetSize_=210 rate_=448k random_=0 maxpkts_=268435456",
    ),
    (
        "Application/Traffic/Exponential",
        "packetSize_=210 rate_=64k burst_time_=0.5 idle_time_=0.5",
    ),
    (
        "Application/Traffic/Pareto",
        "packetSize_=210 rate_=64k burst_time_=0.5 idle_time_=0.5 shape_=1.5",
    ),
    ("Node", "multiPath_=0"),
    ("RandomVariable/Uniform", "min_=0 max_=1"),
    ("RandomVariable/Exponential", "avg_=1"),
    ("RandomVariable/Constant", "val_=1"),
];

/// Variables that count, trace or label, and change nothing else.
const HARMLESS: &[&str] = &[
    "fid_",
    "class_",
    "prio_",
    "flowid_",
    "ttl_",
    "type_",
    "nam_tracevar_",
    "trace_all_oneline_",
    "flags_",
    "print_request_",
    "summarystats_",
    "node_",
    "debug_",
    "agent_addr_",
    "agent_port_",
    "dst_addr_",
    "dst_port_",
    "dport_",
    "sport_",
    "util_check_intv_",
    "util_records_",
    "util_weight_",
    // Counters and measurements.
    "ack_",
    "ave_",
    "backoff_",
    "bytes_",
    "cur_max_p_",
    "curq_",
    "dupacks_",
    "expected_",
    "lastPktTime_",
    "maxseq_",
    "nackpack_",
    "ncwndcuts_",
    "ncwndcuts1_",
    "ndatabytes_",
    "ndatapack_",
    "necnresponses_",
    "nlost_",
    "npkts_",
    "nrexmit_",
    "nrexmitbytes_",
    "nrexmitpack_",
    "prob1_",
    "rtt_",
    "rttvar_",
    "seqno_",
    "srtt_",
    "t_seqno_",
    "v_rtt_",
];

/// True for a variable of a class that changes nothing. RED counts its bytes by a variable with the name
/// of a counter.
pub fn harmless(class: &str, variable: &str) -> bool {
    HARMLESS.contains(&variable) && default(class, variable).is_none()
}

/// Agents that send TCP data.
pub const SENDERS: &[&str] = &[
    "Agent/TCP",
    "Agent/TCP/Reno",
    "Agent/TCP/Newreno",
    "Agent/TCP/Sack1",
    "Agent/TCP/Vegas",
    "Agent/TCP/Linux",
];

/// Agents that receive TCP data.
pub const SINKS: &[&str] = &[
    "Agent/TCPSink",
    "Agent/TCPSink/DelAck",
    "Agent/TCPSink/Sack1",
    "Agent/TCPSink/Sack1/DelAck",
];

/// Sources of traffic.
pub const APPLICATIONS: &[&str] = &[
    "Application/FTP",
    "Application/Traffic/CBR",
    "Application/Traffic/Exponential",
    "Application/Traffic/Pareto",
];

/// Queues of links.
pub const QUEUES: &[&str] = &["DropTail", "RED"];

/// Queues of ns-2 and its extensions that are not imported, each with the kind of the nearest queue
/// here. Their algorithms differ: SFQ of ns-2 drops arrivals, and that of Linux the longest queue.
const OTHER_QUEUES: &[(&str, &str)] = &[
    ("SFQ", "sfq"),
    ("DRR", "drr"),
    ("FQ", "drr"),
    ("CoDel", "codel"),
    ("sfqCoDel", "fq_codel"),
    ("PIE", "pie"),
];

/// Agents that send or receive datagrams.
const OTHER_AGENTS: &[&str] = &["Agent/UDP", "Agent/Null", "Agent/LossMonitor"];

/// Error models and random numbers.
const RANDOM: &[&str] = &[
    "ErrorModel",
    "ErrorModel/Uniform",
    "ErrorModel/Periodic",
    "ErrorModel/List",
    "RandomVariable/Uniform",
    "RandomVariable/Exponential",
    "RandomVariable/Constant",
    "RNG",
];

/// Beginnings of the names of classes that only observe.
const OBSERVERS: &[&str] = &[
    "QueueMonitor",
    "Integrator",
    "SnoopQueue",
    "Samples",
    "Trace",
    "Histogram",
    "Flow",
    "NetworkMonitor",
    "BaseTrace",
];

/// True for a class that only observes.
pub fn observes(class: &str) -> bool {
    OBSERVERS.iter().any(|begin| class.starts_with(begin))
}

/// Classes that `new` makes.
pub fn known() -> Vec<&'static str> {
    let groups = [
        SENDERS,
        SINKS,
        OTHER_AGENTS,
        APPLICATIONS,
        RANDOM,
        &["Simulator", "QueueMonitor"],
    ];
    groups.concat()
}

/// Returns the error of a class that is not imported.
pub fn refusal(class: &str, line: u32) -> ImportError {
    if class.starts_with("Agent/TCP/FullTcp") {
        let message = format!("the class {} has no equivalent here", quoted(class));
        let help =
            "write Agent/TCP/Sack1 with Agent/TCPSink/Sack1, which send data in one direction";
        return refuse(line, message, help);
    }
    let mut error = unknown(line, "the class", class, &known());
    if error.help.starts_with("choose") {
        let group = class.split('/').next().unwrap_or_default();
        let near: Vec<&str> = known()
            .into_iter()
            .filter(|one| one.split('/').next() == Some(group))
            .collect();
        error.help = if near.is_empty() {
            "docs/exchange.md lists the classes that are understood".to_owned()
        } else {
            format!("choose from {}", near.join(", "))
        };
    }
    error
}

/// Returns the error of a queue that is not imported.
pub fn queue_refusal(queue: &str, line: u32) -> ImportError {
    let Some((_, kind)) = OTHER_QUEUES.iter().find(|(name, _)| *name == queue) else {
        return unknown(line, "the queue", queue, QUEUES);
    };
    let message = format!("the queue {} of ns-2 has no equivalent here", quoted(queue));
    let help = format!("write DropTail, and choose kind = \"{kind}\" in the scenario");
    refuse(line, message, help)
}

/// Returns the class and the classes that its name begins with, the most general one first.
pub fn lineage(class: &str) -> impl Iterator<Item = &str> {
    let slashes = class.match_indices('/').map(|(place, _)| place);
    slashes.chain([class.len()]).map(|end| &class[..end])
}

/// Returns the default of a class's variable; None if ns-2 has no such variable there.
pub fn default(class: &str, variable: &str) -> Option<&'static str> {
    let mut found = None;
    for part in lineage(class) {
        for (_, defaults) in DEFAULTS.iter().filter(|(name, _)| *name == part) {
            let pairs = defaults
                .split_whitespace()
                .filter_map(|pair| pair.split_once('='));
            let mut own = pairs.filter(|(name, _)| *name == variable);
            found = own.next().map(|pair| pair.1).or(found);
        }
    }
    found
}
