// A dumbbell of long TCP flows for ns-3, the counterpart of tools/ns2/dumbbell.tcl.
//
//   dumbbell --flows=1 --rate=10 --rtt=40 --buffer=33 --control=TcpCubic --duration=100 --seed=1
//
// One pair of hosts per flow on 1 Gb/s links, a bottleneck of 10 ms. Flow i starts at 0.01 i s plus a
// random jitter of up to 10 ms; base round-trip times run from rtt to rttMax in so many classes. Every
// link is a point-to-point link, whose frames are IP packets and two bytes of PPP. `queue` is `fifo`,
// where `buffer` packets wait beside the one in transmission, or a queue disc of ns-3 (CoDelQueueDisc,
// PieQueueDisc, RedQueueDisc, FqCoDelQueueDisc ...), where one more waits in the device. Attributes of
// ns-3 are set by its own syntax: --ns3::CoDelQueueDisc::Target=5ms, --ns3::TcpCubic::HyStart=false.
//
// With `datagrams`, flows are no TCP but send packets of 1500 bytes at exponential intervals, so many
// megabits per second in all.
//
// Results, one line of JSON, cover the last three quarters of the run. `curves` names a file for the
// backlog and the window of flow 0 over time. Exit code 3: the counts of packets do not add up.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Options
{
    uint32_t flows = 1, buffer = 33, classes = 1, mss = 1460, initialWindow = 10, ackEvery = 1;
    uint32_t window = 10000;
    double rate = 10, rtt = 40, rttMax = 0, duration = 100, jitter = 0.01, step = 0.01;
    double datagrams = 0;
    uint64_t seed = 1;
    bool timestamps = false, sack = true, ecn = false;
    std::string control = "TcpNewReno", recovery = "TcpClassicRecovery", queue = "fifo", curves;
};

Options Parse(int argc, char** argv)
{
    Options o;
    CommandLine line;
    line.AddValue("flows", "number of flows", o.flows);
    line.AddValue("rate", "of the bottleneck, Mb/s", o.rate);
    line.AddValue("rtt", "base round-trip time, ms", o.rtt);
    line.AddValue("rttMax", "of the last class, ms", o.rttMax);
    line.AddValue("classes", "round-trip times between rtt and rttMax", o.classes);
    line.AddValue("buffer", "packets that may wait", o.buffer);
    line.AddValue("queue", "fifo or a queue disc", o.queue);
    line.AddValue("control", "congestion control", o.control);
    line.AddValue("recovery", "recovery algorithm", o.recovery);
    line.AddValue("mss", "payload of a segment, bytes", o.mss);
    line.AddValue("initialWindow", "segments", o.initialWindow);
    line.AddValue("window", "socket buffers, segments", o.window);
    line.AddValue("ackEvery", "segments per ACK", o.ackEvery);
    line.AddValue("timestamps", "RFC 7323", o.timestamps);
    line.AddValue("sack", "RFC 2018", o.sack);
    line.AddValue("ecn", "RFC 3168", o.ecn);
    line.AddValue("datagrams", "Mb/s in place of TCP", o.datagrams);
    line.AddValue("duration", "of the run, s", o.duration);
    line.AddValue("jitter", "of the starts, s", o.jitter);
    line.AddValue("seed", "number of the run", o.seed);
    line.AddValue("curves", "file for the curves", o.curves);
    line.AddValue("step", "of the curves, s", o.step);
    // Defaults first: attributes on the command line come after them.
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    line.Parse(argc, argv);
    return o;
}

void SetTcp(const Options& o)
{
    const auto type = [](const std::string& name) {
        return TypeIdValue(TypeId::LookupByName("ns3::" + name));
    };
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", type(o.control));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", type(o.recovery));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(o.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(o.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(o.ackEvery));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(o.window * o.mss));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(o.window * o.mss));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(o.timestamps));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(o.sack));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(o.ecn ? "On" : "Off"));
}

/// The transmitter of the bottleneck and what waits before it.
class Bottleneck
{
  public:
    /// Counts since the start of the run.
    struct Counts
    {
        double arrivals = 0, departures = 0, bytes = 0, drops = 0, marks = 0, waited = 0;
        std::map<std::string, double> reasons;
    };

    Bottleneck(Ptr<NetDevice> device, const Options& o)
        : m_device(DynamicCast<PointToPointNetDevice>(device))
    {
        m_device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Bottleneck::Begin, this));
        auto queue = m_device->GetQueue();
        queue->TraceConnectWithoutContext("PacketsInQueue",
                                          MakeCallback(&Bottleneck::Waiting<0>, this));
        if (o.queue == "fifo")
        {
            return;
        }
        queue->SetMaxSize(QueueSize("1p"));
        TrafficControlHelper helper;
        helper.SetRootQueueDisc("ns3::" + o.queue,
                                "MaxSize",
                                StringValue(std::to_string(o.buffer) + "p"));
        m_disc = helper.Install(device).Get(0);
        m_disc->TraceConnectWithoutContext("PacketsInQueue",
                                           MakeCallback(&Bottleneck::Waiting<1>, this));
    }

    /// Packets that wait now.
    uint32_t Backlog() const
    {
        return m_waiting[0] + m_waiting[1];
    }

    Counts Take()
    {
        Integrate();
        Counts now;
        now.waited = m_integral;
        now.departures = m_departures;
        now.bytes = m_bytes;
        if (!m_disc)
        {
            // The queue counts as received what it took.
            auto queue = m_device->GetQueue();
            now.drops = queue->GetTotalDroppedPackets();
            now.arrivals = queue->GetTotalReceivedPackets() + now.drops;
            now.reasons["Overlimit drop"] = now.drops;
            return now;
        }
        const auto& stats = m_disc->GetStats();
        now.arrivals = stats.nTotalReceivedPackets;
        now.drops = stats.nTotalDroppedPackets;
        now.marks = stats.nTotalMarkedPackets;
        const auto add = [&now](const auto& counts) {
            for (const auto& [reason, count] : counts)
            {
                now.reasons[reason] += count;
            }
        };
        add(stats.nDroppedPacketsBeforeEnqueue);
        add(stats.nDroppedPacketsAfterDequeue);
        add(stats.nMarkedPackets);
        return now;
    }

  private:
    void Begin(Ptr<const Packet> packet)
    {
        ++m_departures;
        m_bytes += packet->GetSize();
    }

    template <int Where>
    void Waiting(uint32_t, uint32_t now)
    {
        Integrate();
        m_waiting[Where] = now;
    }

    void Integrate()
    {
        const double now = Simulator::Now().GetSeconds();
        m_integral += Backlog() * (now - m_since);
        m_since = now;
    }

    Ptr<PointToPointNetDevice> m_device;
    Ptr<QueueDisc> m_disc;
    uint32_t m_waiting[2] = {0, 0};
    double m_departures = 0, m_bytes = 0, m_integral = 0, m_since = 0;
};

/// Two hosts with their links, and what went from one to the other.
class Flow
{
  public:
    Flow(uint32_t number, const Options& o, const NodeContainer& routers)
    {
        hosts.Create(2);
        InternetStackHelper().Install(hosts);
        const uint32_t last = o.classes > 1 ? o.classes - 1 : 1;
        const double spread = o.classes > 1 ? (o.rttMax - o.rtt) / last : 0;
        const double rtt = o.rtt + (number % o.classes) * spread;
        PointToPointHelper access;
        access.DisableFlowControl();
        access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
        access.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        access.SetChannelAttribute("Delay", TimeValue(Seconds((rtt / 2 - 10) / 2e3)));
        const auto near = access.Install(hosts.Get(0), routers.Get(0));
        const auto far = access.Install(hosts.Get(1), routers.Get(1));
        Address(near, 2 * number + 1);
        const auto address = Address(far, 2 * number + 2).GetAddress(0);
        server = InetSocketAddress(address, 9);
    }

    virtual ~Flow() = default;

    /// Gives a link its addresses, a network of its own, and its hosts the way out.
    static Ipv4InterfaceContainer Address(const NetDeviceContainer& link, uint32_t number)
    {
        Ipv4AddressHelper helper;
        helper.SetBase(Ipv4Address(0x0a000000 + 4 * number), "255.255.255.252");
        const auto interfaces = helper.Assign(link);
        for (uint32_t end = 0; end < 2; ++end)
        {
            // An address brings FqCoDel with it where a device can stop its sender.
            auto device = link.Get(end);
            auto control = device->GetNode()->GetObject<TrafficControlLayer>();
            if (control->GetRootQueueDiscOnDevice(device))
            {
                control->DeleteRootQueueDiscOnDevice(device);
            }
        }
        Ipv4StaticRoutingHelper routing;
        routing.GetStaticRouting(interfaces.Get(0).first)
            ->SetDefaultRoute(interfaces.GetAddress(1), interfaces.Get(0).second);
        return interfaces;
    }

    double Received() const
    {
        return m_sink->GetTotalRx();
    }

    double sent = 0, resent = 0;
    uint32_t window = 0;

  protected:
    /// Receives at the server, over this protocol.
    void Listen(const std::string& protocol)
    {
        PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), 9));
        m_sink = DynamicCast<PacketSink>(sink.Install(hosts.Get(1)).Get(0));
    }

    /// When it starts.
    static Time Start(uint32_t number, const Options& o)
    {
        auto random = CreateObject<UniformRandomVariable>();
        return Seconds(0.01 * number + random->GetValue(0, o.jitter));
    }

    NodeContainer hosts;
    ns3::Address server;

  private:
    Ptr<PacketSink> m_sink;
};

/// A long transfer by TCP.
class Bulk : public Flow
{
  public:
    Bulk(uint32_t number, const Options& o, const NodeContainer& routers)
        : Flow(number, o, routers),
          m_end(0)
    {
        Listen("ns3::TcpSocketFactory");
        BulkSendHelper bulk("ns3::TcpSocketFactory", server);
        bulk.SetAttribute("SendSize", UintegerValue(10 * o.mss));
        m_bulk = DynamicCast<BulkSendApplication>(bulk.Install(hosts.Get(0)).Get(0));
        const Time start = Start(number, o);
        m_bulk->SetStartTime(start);
        // The application makes its socket when it starts.
        Simulator::Schedule(start + NanoSeconds(1), &Bulk::Watch, this);
    }

  private:
    void Watch()
    {
        auto socket = m_bulk->GetSocket();
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Bulk::Window, this));
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Bulk::Send, this));
    }

    void Window(uint32_t, uint32_t now)
    {
        window = now;
    }

    void Send(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        ++sent;
        if (header.GetSequenceNumber() < m_end)
        {
            ++resent;
        }
        m_end = std::max(m_end, header.GetSequenceNumber() + SequenceNumber32(packet->GetSize()));
    }

    Ptr<BulkSendApplication> m_bulk;
    SequenceNumber32 m_end;
};

/// Datagrams at exponential intervals.
class Datagrams : public Flow
{
  public:
    Datagrams(uint32_t number, const Options& o, const NodeContainer& routers)
        : Flow(number, o, routers),
          m_gap(CreateObject<ExponentialRandomVariable>())
    {
        Listen("ns3::UdpSocketFactory");
        m_gap->SetAttribute("Mean", DoubleValue(1500 * 8e-6 * o.flows / o.datagrams));
        m_socket = Socket::CreateSocket(hosts.Get(0), UdpSocketFactory::GetTypeId());
        Simulator::Schedule(Start(number, o), &Datagrams::Open, this);
    }

  private:
    void Open()
    {
        m_socket->Connect(server);
        Send();
    }

    void Send()
    {
        // Beside 28 bytes of headers.
        m_socket->Send(Create<Packet>(1472));
        ++sent;
        Simulator::Schedule(Seconds(m_gap->GetValue()), &Datagrams::Send, this);
    }

    Ptr<ExponentialRandomVariable> m_gap;
    Ptr<Socket> m_socket;
};

/// Everything that is counted, at one instant.
struct Snapshot
{
    Bottleneck::Counts link;
    double received = 0, sent = 0, resent = 0;
};

Snapshot Take(Bottleneck& link, const std::vector<std::unique_ptr<Flow>>& flows)
{
    Snapshot now{link.Take()};
    for (const auto& flow : flows)
    {
        now.received += flow->Received();
        now.sent += flow->sent;
        now.resent += flow->resent;
    }
    return now;
}

void Report(const Options& o, const Snapshot& begin, const Snapshot& end)
{
    const double seconds = 0.75 * o.duration;
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    const double arrivals = end.link.arrivals - begin.link.arrivals;
    const double drops = end.link.drops - begin.link.drops;
    std::printf("{\"utilization\": %.6f, \"loss_rate\": %.8f, \"mean_backlog_packets\": %.4f, "
                "\"goodput_bps\": %.1f, \"resent_share\": %.8f, \"arrivals\": %.0f, \"drops\": %.0f, "
                "\"marks\": %.0f, \"reasons\": {",
                (end.link.bytes - begin.link.bytes) * 8 / (o.rate * 1e6 * seconds),
                share(drops, arrivals),
                (end.link.waited - begin.link.waited) / seconds,
                (end.received - begin.received) * 8 / seconds / o.flows,
                share(end.resent - begin.resent, end.sent - begin.sent),
                arrivals,
                drops,
                end.link.marks - begin.link.marks);
    const char* separator = "";
    for (const auto& [reason, count] : end.link.reasons)
    {
        const auto before = begin.link.reasons.find(reason);
        const double less = before == begin.link.reasons.end() ? 0 : before->second;
        std::printf("%s\"%s\": %.0f", separator, reason.c_str(), count - less);
        separator = ", ";
    }
    std::printf("}, \"delivered\": %.0f}\n", end.link.departures);
}

} // namespace

int main(int argc, char** argv)
{
    const Options o = Parse(argc, argv);
    SetTcp(o);
    RngSeedManager::SetRun(o.seed);

    NodeContainer routers(2);
    InternetStackHelper().Install(routers);
    PointToPointHelper between;
    if (o.queue == "fifo")
    {
        // Else the device would stop its sender when it is full, and lose nothing.
        between.DisableFlowControl();
    }
    between.SetQueue("ns3::DropTailQueue<Packet>",
                     "MaxSize",
                     StringValue(std::to_string(o.buffer) + "p"));
    between.SetDeviceAttribute("DataRate", DataRateValue(DataRate(o.rate * 1e6)));
    between.SetChannelAttribute("Delay", StringValue("10ms"));
    const auto devices = between.Install(routers);
    DynamicCast<PointToPointNetDevice>(devices.Get(1))->GetQueue()->SetMaxSize(QueueSize("100000p"));
    const auto ways = Flow::Address(devices, 0);
    Ipv4StaticRoutingHelper()
        .GetStaticRouting(ways.Get(1).first)
        ->SetDefaultRoute(ways.GetAddress(0), ways.Get(1).second);
    Bottleneck bottleneck(devices.Get(0), o);

    std::vector<std::unique_ptr<Flow>> flows;
    for (uint32_t number = 0; number < o.flows; ++number)
    {
        if (o.datagrams > 0)
        {
            flows.push_back(std::make_unique<Datagrams>(number, o, routers));
        }
        else
        {
            flows.push_back(std::make_unique<Bulk>(number, o, routers));
        }
    }

    std::ofstream curves;
    std::function<void()> sample = [&]() {
        curves << Simulator::Now().GetSeconds() << ',' << bottleneck.Backlog() << ','
               << flows[0]->window << '\n';
        Simulator::Schedule(Seconds(o.step), sample);
    };
    if (!o.curves.empty())
    {
        curves.open(o.curves);
        curves << "time_s,backlog_packets,cwnd_bytes\n";
        Simulator::Schedule(Seconds(0), sample);
    }
    Snapshot begin;
    Simulator::Schedule(Seconds(0.25 * o.duration), [&]() { begin = Take(bottleneck, flows); });
    Simulator::Stop(Seconds(o.duration));
    Simulator::Run();
    const Snapshot end = Take(bottleneck, flows);
    Report(o, begin, end);
    const double known = end.link.departures + end.link.drops + bottleneck.Backlog();
    if (end.link.arrivals != known)
    {
        std::fprintf(stderr,
                     "%.0f packets came to the bottleneck, %.0f left it, were lost or wait\n",
                     end.link.arrivals,
                     known);
        return 3;
    }
    return 0;
}
