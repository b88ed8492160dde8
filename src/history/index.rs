//! The index of a transcript: what a pass over it has found, kept between two readings, so that the next one costs what
//! is new.
//!
//! One file in the folder of side files. It is a help, never a truth: it counts only where it is whole, of this format,
//! and made from the file that is read, as far as that goes unchanged. In every other case the file is read anew.

use std::fs::{self, File, Metadata};
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use foldhash::quality::FixedState;

use super::columns::{Reader, Writer};
use super::side;
use super::table::Table;
use super::transcript::Done;

const NAME: &str = "index";
/// Counts up whenever the columns, or what a pass makes of a row, change.
const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"nsoupidx";
/// Magic, format, checksum.
const HEADER: usize = 8 + 4 + 8;
/// An index is written when so many bytes were read without one: fewer are read in the time that loading takes.
pub(super) const WORTH: u64 = 4 << 20;
/// How many places of the file are looked at to tell whether it is the same, and how much at each.
const SAMPLES: u64 = 16;
const SAMPLE: u64 = 1 << 10;

/// Which file an index was made from, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    device: u64,
    inode: u64,
    /// When the file was written to last, in nanoseconds, and how long it was then.
    modified: i128,
    length: u64,
    /// A hash of samples of the part that was read.
    samples: u64,
}

impl Source {
    pub fn of(file: &File, metadata: &Metadata, read: u64) -> io::Result<Self> {
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            modified: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
            length: metadata.len(),
            samples: samples(file, read)?,
        })
    }

    /// Whether the file that this one describes goes on as the other does: the same one, unchanged or longer.
    pub fn leads_to(&self, now: &Self) -> bool {
        let same = self.device == now.device && self.inode == now.inode && self.samples == now.samples;
        same && match self.length.cmp(&now.length) {
            std::cmp::Ordering::Less => true,
            // Written to without becoming longer: something in it is another.
            std::cmp::Ordering::Equal => self.modified == now.modified,
            std::cmp::Ordering::Greater => false,
        }
    }

    pub fn save(&self, to: &mut Writer) {
        for number in [self.device, self.inode, self.length, self.samples] {
            to.number(number);
        }
        to.wide(self.modified.cast_unsigned());
    }

    pub fn load(from: &mut Reader<'_>) -> Option<Self> {
        let [device, inode, length, samples] = [from.number()?, from.number()?, from.number()?, from.number()?];
        Some(Self {
            device,
            inode,
            modified: from.wide()?.cast_signed(),
            length,
            samples,
        })
    }
}

/// A hash of places spread over the first `read` bytes, the last ones among them.
fn samples(file: &File, read: u64) -> io::Result<u64> {
    let mut bytes = Vec::new();
    let mut sample = vec![0; usize::try_from(SAMPLE.min(read)).unwrap_or(0)];
    let last = read - sample.len() as u64;
    for number in 0..=SAMPLES {
        file.read_exact_at(&mut sample, last / SAMPLES * number)?;
        bytes.extend_from_slice(&sample);
    }
    file.read_exact_at(&mut sample, last)?;
    bytes.extend_from_slice(&sample);
    Ok(hash(&bytes))
}

/// A checksum.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    FixedState::with_seed(u64::from(FORMAT)).hash_one(bytes)
}

/// What was kept of this file; none when there is nothing that can be believed.
pub(super) fn load(state_dir: &Path, transcript: &Path, file: &File) -> Option<(Table, Done)> {
    let path = side::existing_folder(state_dir, transcript)?.join(NAME);
    let bytes = fs::read(path).ok()?;
    let (header, body) = bytes.split_at_checked(HEADER)?;
    let mut expected = MAGIC.to_vec();
    expected.extend_from_slice(&FORMAT.to_le_bytes());
    expected.extend_from_slice(&hash(body).to_le_bytes());
    if header != expected {
        return None;
    }
    let mut reader = Reader::new(body);
    let source = Source::load(&mut reader)?;
    let done = Done {
        bytes: reader.number()?,
        lines: reader.number()?,
        rows: u32::try_from(reader.number()?).ok()?,
    };
    let metadata = file.metadata().ok()?;
    if metadata.len() < done.bytes || !source.leads_to(&Source::of(file, &metadata, done.bytes).ok()?) {
        return None;
    }
    let table = Table::load(&mut reader)?;
    (table.len() == done.rows && reader.is_at_end()).then_some((table, done))
}

/// Keeps what was found, when it is worth it. `metadata` is the file's from before it was read.
///
/// `indexed` bytes are in the index that there is already.
pub(super) fn save(
    state_dir: &Path,
    transcript: &Path,
    (file, metadata): (&File, &Metadata),
    table: &Table,
    done: Done,
    indexed: u64,
) {
    // A row without its line end may not be a whole one yet.
    if done.bytes - indexed < WORTH || table.len() != done.rows {
        return;
    }
    if let Err(error) = write(state_dir, transcript, (file, metadata), table, done) {
        tracing::debug!(%error, transcript = %transcript.display(), "the index is not written");
    }
}

fn write(
    state_dir: &Path,
    transcript: &Path,
    (file, metadata): (&File, &Metadata),
    table: &Table,
    done: Done,
) -> io::Result<()> {
    let folder = side::folder(state_dir, transcript)?;
    let source = Source::of(file, metadata, done.bytes)?;
    let mut writer = Writer::default();
    source.save(&mut writer);
    for number in [done.bytes, done.lines, u64::from(done.rows)] {
        writer.number(number);
    }
    table.save(&mut writer);
    let body = writer.into_bytes();
    let mut temp = tempfile::NamedTempFile::new_in(&folder)?;
    temp.write_all(MAGIC)?;
    temp.write_all(&FORMAT.to_le_bytes())?;
    temp.write_all(&hash(&body).to_le_bytes())?;
    temp.write_all(&body)?;
    temp.persist(folder.join(NAME)).map_err(|error| error.error)?;
    side::sweep(state_dir);
    Ok(())
}
