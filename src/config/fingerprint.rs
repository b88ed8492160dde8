//! A short name for everything that something was made from.

use std::hash::{DefaultHasher, Hasher as _};

/// 128 bits over a sequence of parts, for names of what is kept between two runs; not for what an enemy may forge.
///
/// The standard library's hasher twice, each begun with another word. A hash that is made for speed on long input asks
/// the processor for its features first, which costs more than all of the hashing here where a hypervisor traps the
/// question.
#[derive(Debug)]
pub struct Fingerprint([DefaultHasher; 2]);

impl Default for Fingerprint {
    fn default() -> Self {
        Self([0, 1].map(|word| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(word);
            hasher
        }))
    }
}

impl Fingerprint {
    /// Adds a part; where it ends counts.
    pub fn add(&mut self, part: &[u8]) {
        for hasher in &mut self.0 {
            hasher.write_usize(part.len());
            hasher.write(part);
        }
    }

    /// 32 hexadecimal digits.
    pub fn finish(&self) -> String {
        let [first, second] = &self.0;
        format!("{:016x}{:016x}", first.finish(), second.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    fn of(parts: &[&str]) -> String {
        let mut fingerprint = Fingerprint::default();
        for part in parts {
            fingerprint.add(part.as_bytes());
        }
        fingerprint.finish()
    }

    #[test]
    fn parts_and_their_ends_count() {
        let all = [
            of(&[]),
            of(&[""]),
            of(&["ab"]),
            of(&["a", "b"]),
            of(&["b", "a"]),
            of(&["", "ab"]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert_eq!(one.len(), 32);
            assert_ne!(one[..16], one[16..]);
            assert!(all[..at].iter().all(|other| other != one), "{all:?}");
        }
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    }
}
