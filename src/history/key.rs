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
    if id[8] != b'-' || id[13] != b'-' || id[18] != b'-' || id[23] != b'-' {
        return None;
    }
    let digits = |at: usize, second: usize| {
        let mut part = [0; 8];
        part[..4].copy_from_slice(&id[at..at + 4]);
        part[4..].copy_from_slice(&id[second..second + 4]);
        hex(part)
    };
    let [a, b, c, d] = [digits(0, 4)?, digits(9, 14)?, digits(19, 24)?, digits(28, 32)?];
    let bits = u128::from(a) << 96 | u128::from(b) << 64 | u128::from(c) << 32 | u128::from(d);
    (bits >> 76 & 0xf != 0).then_some(bits)
}

/// The number of eight digits, all at once.
fn hex(digits: [u8; 8]) -> Option<u32> {
    const ONES: u64 = u64::MAX / 255;
    let word = u64::from_be_bytes(digits);
    // Letters have bit 6, digits have not.
    let letters = word >> 6 & ONES;
    let values = (word & (ONES * 0xf)) + letters * 9;
    // Written back in lower case it must be what it was.
    let written = values + (ONES * u64::from(b'0')) + letters * u64::from(b'a' - b'0' - 10);
    let too_large = (values + ONES * 0x70) & (ONES * 0x80);
    let small_letter = (letters * 0xff) & ((values + ONES * 0x76) ^ (ONES * 0x80)) & (ONES * 0x80);
    let large_digit = !(letters * 0xff) & (values + ONES * 0x76) & (ONES * 0x80);
    if written != word || too_large | small_letter | large_digit != 0 {
        return None;
    }
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let quads = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some((quads | quads >> 16) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_digits_are_digits() {
        for byte in 0..=255u8 {
            let expected = char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
            for place in 0..8 {
                let mut digits = *b"0a9f1e2d";
                digits[place] = byte;
                let text: String = digits.iter().map(|byte| char::from(*byte)).collect();
                let expected = expected.and_then(|_| u32::from_str_radix(&text, 16).ok());
                assert_eq!(hex(digits), expected, "{text:?}");
            }
        }
    }

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
