//! Ids as numbers: a transcript has hundreds of thousands, and comparing them must be cheap.

use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;

/// An id of a row, a response or a call.
///
/// A lower-case UUID is its own 128 bits. Every other id is a hash of 128 bits, too wide for two ids of one
/// transcript to meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(pub u128);

impl Key {
    /// The key of an id.
    pub fn of(id: &[u8]) -> Self {
        uuid(id).map_or_else(|| Self::hashed(id), Self)
    }

    fn hashed(id: &[u8]) -> Self {
        let half = |seed| u128::from(FixedState::with_seed(seed).hash_one(id));
        // The version and variant bits of a UUID are set otherwise, so that no hash is taken for one.
        Self((half(0x6e6f_7465) << 64 | half(0x736f_7570)) & !(0xf << 76))
    }

    /// The low half, spread well enough to be a hash.
    pub const fn hash(self) -> u64 {
        // The halves of a UUID are random but for a few bits.
        (self.0 as u64) ^ ((self.0 >> 64) as u64).rotate_left(32)
    }
}

/// The bits of `xxxxxxxx-xxxx-Vxxx-xxxx-xxxxxxxxxxxx` in lower case, with a version digit that is not 0.
fn uuid(id: &[u8]) -> Option<u128> {
    let id: &[u8; 36] = id.try_into().ok()?;
    let mut bits = 0u128;
    let mut bad = 0u8;
    for (at, byte) in id.iter().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            bad |= byte ^ b'-';
            continue;
        }
        let digit = HEX[*byte as usize];
        bad |= digit & 0xf0;
        bits = bits << 4 | u128::from(digit & 0xf);
    }
    (bad == 0 && bits >> 76 & 0xf != 0).then_some(bits)
}

const HEX: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut at = 0;
    while at < 10 {
        table[b'0' as usize + at] = at as u8;
        at += 1;
    }
    let mut at = 0;
    while at < 6 {
        table[b'a' as usize + at] = 10 + at as u8;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_its_own_bits_and_anything_else_a_hash() {
        let key = Key::of(b"0a1e2c9c-d0a8-41d9-be75-81dd80e7e4e1");
        assert_eq!(key.0, 0x0a1e_2c9c_d0a8_41d9_be75_81dd_80e7_e4e1);
        for other in [
            "0A1e2c9c-d0a8-41d9-be75-81dd80e7e4e1",
            "0a1e2c9cd0a841d9be7581dd80e7e4e1",
            "0a1e2c9c-d0a8-01d9-be75-81dd80e7e4e1",
            "a1",
            "",
        ] {
            let hashed = Key::of(other.as_bytes());
            assert_ne!(hashed, key, "{other}");
            assert_eq!(hashed.0 >> 76 & 0xf, 0, "{other}");
        }
        assert_ne!(Key::of(b"toolu_1"), Key::of(b"toolu_2"));
    }
}
