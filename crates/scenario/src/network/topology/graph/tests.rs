use super::*;
use proptest::prelude::*;

/// Returns a graph of these links, each with its round trip in milliseconds.
fn graph(nodes: usize, links: &[(usize, usize, u64)]) -> (Graph, Vec<Span>) {
    let mut graph = Graph::default();
    for node in 0..nodes {
        graph.add_node(format!("n{node}"));
    }
    for (from, to, _) in links {
        graph.add_link(*from, *to);
    }
    let spans = links.iter().map(|link| Span::from_millis(link.2));
    (graph, spans.collect())
}

fn ids(way: &[LinkId]) -> Vec<u32> {
    way.iter().map(|direction| direction.0).collect()
}

/// Graph in which the ways from a to d take 4 ms over b, 5 ms over c and 6 ms directly; d to e has two equal links.
const EXAMPLE: [(usize, usize, u64); 7] = [
    (0, 1, 2),
    (3, 1, 2),
    (0, 2, 1),
    (2, 3, 4),
    (0, 3, 6),
    (4, 3, 1),
    (3, 4, 1),
];

#[test]
fn routes_of_a_small_graph_are_those_found_by_hand() {
    let (graph, spans) = graph(6, &EXAMPLE);
    let mut router = Router::new(&graph, spans);
    let mut way = |from, to| router.shortest(from, to).map(|way| ids(&way));
    // Over b: link 0 forward, link 1 backward. To e the earlier of the parallel links, backward.
    assert_eq!(way(0, 3), Some(vec![0, 3]));
    assert_eq!(way(3, 0), Some(vec![2, 1]));
    assert_eq!(way(0, 4), Some(vec![0, 3, 11]));
    assert_eq!(way(2, 1), Some(vec![5, 0]));
    assert_eq!(way(0, 5), None, "no link touches the last node");
    assert_eq!(way(1, 1), Some(vec![]));
}

#[test]
fn fewer_links_win_where_delays_are_equal() {
    let (graph, spans) = graph(3, &[(0, 1, 1), (1, 2, 1), (0, 2, 2)]);
    let way = Router::new(&graph, spans).shortest(0, 2);
    assert_eq!(way.map(|way| ids(&way)), Some(vec![4]));
}

#[test]
fn a_walk_finds_directions_gaps_and_loops() {
    let (graph, _) = graph(6, &EXAMPLE);
    let walked = graph.walk(0, &[2, 3, 6]).map(|(way, end)| (ids(&way), end));
    assert_eq!(walked, Ok((vec![4, 6, 12], 4)));
    let (way, _) = graph.walk(0, &[2, 3, 6]).expect("it is a way");
    assert_eq!(ids(&back(&way)), [13, 7, 5]);
    assert_eq!(
        graph.walk(0, &[0, 3]),
        Err(Stray::Gap { place: 1, node: 1 })
    );
    let around = graph.walk(0, &[0, 1, 4]);
    assert_eq!(around, Err(Stray::Loop { place: 2, node: 0 }));
}

/// All ways without loops: their length, their number of links, and the links as they come.
fn all_ways(
    links: &[(usize, usize, u64)],
    been: &mut Vec<usize>,
    so_far: &mut Vec<u32>,
    length: u64,
    to: usize,
    found: &mut Vec<(u64, usize, Vec<u32>)>,
) {
    let node = been[been.len() - 1];
    if node == to {
        found.push((length, so_far.len(), so_far.clone()));
        return;
    }
    for (index, (a, b, span)) in links.iter().enumerate() {
        for (begin, end, backward) in [(*a, *b, 0), (*b, *a, 1)] {
            if begin == node && !been.contains(&end) {
                been.push(end);
                so_far.push(2 * index as u32 + backward);
                all_ways(links, been, so_far, length + span, to, found);
                so_far.pop();
                been.pop();
            }
        }
    }
}

proptest! {
    /// Few distinct delays, zero among them, so that ties are common.
    #[test]
    fn a_route_is_the_shortest_of_all_paths(
        links in prop::collection::vec((0_usize..6, 1_usize..6, 0_u64..4), 1..10),
        from in 0_usize..6,
        to in 0_usize..6,
    ) {
        let links: Vec<_> = links.iter().map(|(a, step, span)| (*a, (a + step) % 6, *span)).collect();
        let (graph, spans) = graph(6, &links);
        let mut found = Vec::new();
        all_ways(&links, &mut vec![from], &mut Vec::new(), 0, to, &mut found);
        let best = found.into_iter().min().map(|best| best.2);
        let way = Router::new(&graph, spans).shortest(from, to).map(|way| ids(&way));
        prop_assert_eq!(way, best);
    }
}
