//! Fair shares of a budget, and the cut that fits a text into its share. All sizes are code points.

/// Shares out `budget`: each claim gets what it asks for, or the same as every other claim that asks for more.
pub(super) fn shares(claims: &[usize], budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by_key(|&at| claims[at]);
    let mut shares = vec![0; claims.len()];
    let mut left = budget;
    for (served, &at) in order.iter().enumerate() {
        let even = left / (claims.len() - served);
        shares[at] = claims[at].min(even);
        left -= shares[at];
    }
    shares
}

/// The first `limit` code points of `text`, back to a line end where that loses no more than a fifth; `None` when the
/// text fits whole.
pub(super) fn cut(text: &str, limit: usize) -> Option<&str> {
    let (end, _) = text.char_indices().nth(limit)?;
    let head = &text[..end];
    let at_line = head
        .rfind('\n')
        .filter(|&line| head[line..].chars().count() <= limit / 5);
    Some(at_line.map_or(head, |line| &head[..line]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_claims_are_met_and_large_ones_share_the_rest() {
        assert_eq!(shares(&[10, 1000, 1000], 100), [10, 45, 45]);
        assert_eq!(shares(&[], 100), Vec::<usize>::new());
        assert_eq!(shares(&[5, 5], 100), [5, 5]);
    }

    #[test]
    fn a_cut_falls_on_a_line_end_only_near_the_limit() {
        assert_eq!(cut("short", 5), None);
        assert_eq!(cut("aaaaaaaa\nbbbb", 10), Some("aaaaaaaa"));
        assert_eq!(cut("a\nbbbbbbbbbbbbbb", 10), Some("a\nbbbbbbbb"));
        assert_eq!(cut("ääää", 2), Some("ää"));
    }

    proptest! {
        #[test]
        fn shares_stay_in_the_budget_and_leave_nothing_that_is_wanted(
            claims in prop::collection::vec(0usize..5000, 0..12), budget in 0usize..20_000
        ) {
            let shares = shares(&claims, budget);
            let given: usize = shares.iter().sum();
            prop_assert!(shares.iter().zip(&claims).all(|(share, claim)| share <= claim));
            prop_assert!(given <= budget);
            let wanted: usize = claims.iter().sum();
            prop_assert!(given == wanted.min(budget) || budget - given < claims.len());
        }
    }
}
