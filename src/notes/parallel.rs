//! The same question to many files, on all processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Below this many items a thread costs more than it brings.
const WORTH_A_THREAD: usize = 128;
/// How many items a thread takes at a time.
const BATCH: usize = 32;

/// `ask` of each item; the answers that are `Some`, in the order of the items.
pub fn filter_map<'a, T: Sync, R: Send>(items: &'a [T], ask: impl Fn(&'a T) -> Option<R> + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(8).min(items.len() / WORTH_A_THREAD);
    if threads < 2 {
        return items.iter().filter_map(ask).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut answers = Vec::new();
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(rest) = items.get(start..).filter(|rest| !rest.is_empty()) else {
                return answers;
            };
            let batch = rest.iter().take(BATCH).enumerate();
            answers.extend(batch.filter_map(|(index, item)| Some((start + index, ask(item)?))));
        }
    };
    let mut answers = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut answers = work();
        for other in others {
            match other.join() {
                Ok(more) => answers.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answers
    });
    answers.sort_unstable_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn keeps_the_order() {
        let items: Vec<usize> = (0..10_000).collect();
        let even = super::filter_map(&items, |n| (n % 2 == 0).then_some(*n));
        assert_eq!(even, (0..10_000).step_by(2).collect::<Vec<_>>());
    }
}
