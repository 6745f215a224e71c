// mix.rs - collections, strings, threads and channels of one Rust program.
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::mpsc;
use std::thread;

fn work(seed: u64) -> (usize, u64) {
    let mut map: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut queue: VecDeque<Box<[u8]>> = VecDeque::new();
    for i in 0..40_000u64 {
        map.entry(format!("key{}", (i * seed) % 7919)).or_default().push(i);
        queue.push_back(vec![(i % 256) as u8; (i % 3000) as usize].into_boxed_slice());
        if queue.len() > 300 {
            queue.pop_front();
        }
    }
    let sum = map.values().flatten().fold(0u64, |s, v| s.wrapping_mul(31).wrapping_add(*v));
    let bytes: u64 = queue.iter().flat_map(|b| b.iter()).map(|b| *b as u64).sum();
    (map.len(), sum ^ bytes)
}

fn main() {
    let (sender, receiver) = mpsc::channel::<(u64, Vec<String>)>();
    let threads: Vec<_> = (1..=4u64)
        .map(|seed| {
            let sender = sender.clone();
            thread::spawn(move || {
                for i in 0..500 {
                    let words = (0..i % 50).map(|w| format!("{}-{}", seed, w)).collect();
                    sender.send((seed, words)).unwrap();
                }
                work(seed * 13)
            })
        })
        .collect();
    drop(sender);
    let mut lengths: HashMap<u64, usize> = HashMap::new();
    for (seed, words) in receiver {
        *lengths.entry(seed).or_default() += words.iter().map(|w| w.len()).sum::<usize>();
    }
    for (seed, thread) in (1..=4u64).zip(threads) {
        println!("{} {} {:?}", seed, lengths[&seed], thread.join().unwrap());
    }
}
