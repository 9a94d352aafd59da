// A dumbbell of long TCP flows for htsim, the counterpart of tools/ns2/dumbbell.tcl.
//
//   dumbbell key=value ...
//
// The keys are flows, rate (of the bottleneck, Mb/s), buffer (packets, the one in transmission
// included), rtt_min and rtt_max (ms), classes, duration (s), seed and jitter (s).
//
// Each flow has a pair of hosts on 1 Gb/s links. The bottleneck has a drop-tail queue and a delay of
// 10 ms. Flow i starts at 0.01 i s plus a random jitter of up to `jitter`; its base round-trip time is
// class (i mod classes) of `classes` classes, evenly spaced. A packet has 1500 bytes. The initial
// window is 2 packets. The slow-start threshold and the window have no limit.
//
// htsim's TCP differs from that of the other simulators: it is NewReno without SACK, and its minimum
// retransmission timeout is 250 ms. Timers are examined every 10 ms, as in htsim's own programs.
//
// The result is one line of JSON and covers the last three quarters of the run; `delivered` alone
// covers the whole run. This program needs the headers and the library of htsim.

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace
{

constexpr int PacketBytes = 1500;
constexpr uint32_t InitialWindow = 2 * PacketBytes;
// The largest window that a multiple of a packet can be added to without an overflow of 32 bits.
constexpr uint32_t NoLimit = 1u << 30;
constexpr mem_b NeverFull = mem_b(1) << 40;
constexpr double AccessMbps = 1000.0;
constexpr double BottleneckDelayMs = 10.0;
constexpr double StartInterval = 0.01;
constexpr double TimerPeriodMs = 10.0;

struct Options
{
    std::map<std::string, double> values = {
        {"flows", 100}, {"rate", 50}, {"buffer", 688}, {"rtt_min", 20}, {"rtt_max", 534},
        {"classes", 18}, {"duration", 200}, {"seed", 1}, {"jitter", 0.01},
    };

    Options(int argc, char** argv)
    {
        for (int i = 1; i < argc; ++i) {
            char* equals = std::strchr(argv[i], '=');
            const auto key = equals ? values.find(std::string(argv[i], equals)) : values.end();
            char* end = nullptr;
            const double value = equals ? std::strtod(equals + 1, &end) : 0.0;
            if (key == values.end() || end == equals + 1 || *end != '\0') {
                std::fprintf(stderr, "not a known key with a number: %s\n", argv[i]);
                std::exit(2);
            }
            key->second = value;
        }
    }

    double operator[](const char* key) const { return values.at(key); }
};

// What passed the bottleneck until some time.
struct Counters
{
    uint64_t arrivals = 0;
    uint64_t departures = 0;
    uint64_t drops = 0;
    // Integral of the backlog over time, in byte seconds.
    double backlog = 0.0;
    // Bytes that receivers have in order, of all flows.
    uint64_t in_order = 0;
};

// The bottleneck's queue, which counts data packets. The packets that open a connection have one byte.
class Bottleneck : public Queue
{
public:
    Bottleneck(linkspeed_bps rate, mem_b limit, EventList& events)
        : Queue(rate, limit, events, nullptr)
    {
    }

    void receivePacket(Packet& packet) override
    {
        integrate();
        _counters.arrivals += packet.size() == PacketBytes;
        Queue::receivePacket(packet);
    }

    Counters counters()
    {
        integrate();
        _counters.drops = uint64_t(num_drops());
        return _counters;
    }

protected:
    void completeService() override
    {
        integrate();
        const mem_b before = _queuesize;
        Queue::completeService();
        _counters.departures += before - _queuesize == PacketBytes;
    }

private:
    void integrate()
    {
        const simtime_picosec now = eventlist().now();
        _counters.backlog += double(_queuesize) * timeAsSec(now - _changed);
        _changed = now;
    }

    Counters _counters;
    simtime_picosec _changed = 0;
};

struct Flow
{
    std::vector<std::unique_ptr<Queue>> queues;
    std::vector<std::unique_ptr<Pipe>> pipes;
    std::unique_ptr<TcpSrc> source;
    std::unique_ptr<TcpSink> sink;
    route_t forward;
    route_t back;
};

class Dumbbell : public EventSource
{
public:
    Dumbbell(const Options& options, EventList& events)
        : EventSource(events, "dumbbell"), _options(options),
          _bottleneck(speedFromMbps(options["rate"]), mem_b(options["buffer"]) * PacketBytes, events),
          _return_queue(speedFromMbps(options["rate"]), NeverFull, events, nullptr),
          _delay(timeFromMs(BottleneckDelayMs), events),
          _return_delay(timeFromMs(BottleneckDelayMs), events),
          _timers(timeFromMs(TimerPeriodMs), events), _random(std::mt19937_64(uint64_t(options["seed"])))
    {
        for (int i = 0; i < int(options["flows"]); ++i) {
            add_flow(i);
        }
        events.sourceIsPending(*this, timeFromSec(0.25 * options["duration"]));
    }

    // The measurement begins.
    void doNextEvent() override { _begin = counters(); }

    void print()
    {
        const Counters end = counters();
        const double seconds = 0.75 * _options["duration"];
        const double departures = double(end.departures - _begin.departures);
        const double arrivals = double(end.arrivals - _begin.arrivals);
        const double drops = double(end.drops - _begin.drops);
        uint64_t delivered = 0;
        for (const auto& flow : _flows) {
            delivered += flow->sink->_packets / PacketBytes;
        }
        std::printf("{\"utilization\": %.6f, \"loss_rate\": %.8f, \"mean_backlog_packets\": %.4f, "
                    "\"goodput_bps\": %.1f, \"delivered\": %llu}\n",
                    departures * PacketBytes * 8.0 / (_options["rate"] * 1e6 * seconds),
                    arrivals > 0 ? drops / arrivals : 0.0,
                    (end.backlog - _begin.backlog) / PacketBytes / seconds,
                    double(end.in_order - _begin.in_order) * 8.0 * 1460 / 1500 / seconds / double(_flows.size()),
                    static_cast<unsigned long long>(delivered));
    }

private:
    Counters counters()
    {
        Counters now = _bottleneck.counters();
        for (const auto& flow : _flows) {
            now.in_order += flow->sink->_cumulative_ack;
        }
        return now;
    }

    void add_flow(int i)
    {
        const int classes = int(_options["classes"]);
        double rtt = _options["rtt_min"];
        if (classes > 1) {
            rtt += (i % classes) * (_options["rtt_max"] - rtt) / (classes - 1);
        }
        const double access = (rtt / 2.0 - BottleneckDelayMs) / 2.0;
        auto flow = std::unique_ptr<Flow>(new Flow());
        flow->source.reset(new TcpSrc(nullptr, nullptr, eventlist()));
        flow->sink.reset(new TcpSink());
        connect_route(*flow, flow->forward, access, _bottleneck, _delay);
        connect_route(*flow, flow->back, access, _return_queue, _return_delay);
        flow->forward.push_back(flow->sink.get());
        flow->back.push_back(flow->source.get());
        flow->source->set_cwnd(InitialWindow);
        flow->source->set_ssthresh(NoLimit);
        flow->source->_maxcwnd = NoLimit;
        const double jitter = std::uniform_real_distribution<double>(0.0, _options["jitter"])(_random);
        flow->source->connect(flow->forward, flow->back, *flow->sink, timeFromSec(StartInterval * i + jitter));
        _timers.registerTcp(*flow->source);
        _flows.push_back(std::move(flow));
    }

    // An access link, the bottleneck and another access link.
    void connect_route(Flow& flow, route_t& route, double access_ms, Queue& queue, Pipe& delay)
    {
        access_link(flow, route, access_ms);
        route.push_back(&queue);
        route.push_back(&delay);
        access_link(flow, route, access_ms);
    }

    void access_link(Flow& flow, route_t& route, double delay_ms)
    {
        flow.queues.emplace_back(new Queue(speedFromMbps(AccessMbps), NeverFull, eventlist(), nullptr));
        flow.pipes.emplace_back(new Pipe(timeFromMs(delay_ms), eventlist()));
        route.push_back(flow.queues.back().get());
        route.push_back(flow.pipes.back().get());
    }

    const Options& _options;
    Bottleneck _bottleneck;
    Queue _return_queue;
    Pipe _delay;
    Pipe _return_delay;
    TcpRtxTimerScanner _timers;
    std::mt19937_64 _random;
    std::vector<std::unique_ptr<Flow>> _flows;
    Counters _begin;
};

} // namespace

int main(int argc, char** argv)
{
    const Options options(argc, argv);
    // htsim reports timeouts there.
    std::cout.setstate(std::ios_base::failbit);
    Packet::set_packet_size(PacketBytes);
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(options["duration"]));
    // htsim's objects refer to each other, so they live until the process ends.
    Dumbbell* dumbbell = new Dumbbell(options, events);
    while (events.doNextEvent()) {
    }
    dumbbell->print();
    return 0;
}
