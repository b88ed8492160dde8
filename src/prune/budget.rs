//! `/compact prune 120k`: cuts only until the context is estimated to be down to the target.

use super::estimate::Calibration;
use super::plan::{Plan, Reason};
use super::thread::Thread;

/// Keeps what the target does not need to be cut.
///
/// Old and large goes first: parts are taken by what they save times how far back they are, until the estimate meets
/// the target. Parts behind that stay whole.
pub fn limit(plan: &mut Plan, thread: &Thread, calibration: &Calibration, target: u64) {
    let wanted = calibration.chars_to(target);
    let newest = thread.messages.len();
    let mut order: Vec<usize> = (0..plan.items.len())
        .filter(|index| plan.items[*index].is_cut())
        .collect();
    let weight = |index: &usize| {
        let item = &plan.items[*index];
        let age = newest - thread.calls[item.call].message;
        (item.saved() as u128) * (age as u128)
    };
    // Stable, and the items are in the order of the conversation: of equals the older one goes first.
    order.sort_by_key(|index| std::cmp::Reverse(weight(index)));
    let mut saved = 0;
    for index in order {
        let item = &mut plan.items[index];
        if saved >= wanted {
            item.keep(Reason::NotNeeded);
        } else {
            saved += item.saved();
        }
    }
}
