//! Reads a layer's file.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::problem::{Code, Place, Problem};

/// The largest file that is read, in bytes. The whole table with every text is a twentieth of it.
const MAX_BYTES: u64 = 1024 * 1024;

/// The text of a file, or `None` when there is none.
///
/// # Errors
/// When it is there and cannot be read, is no file, is too large or is not UTF-8.
pub fn read(path: &Path) -> Result<Option<String>, Problem> {
    let unreadable =
        |message: String| Problem::new(Code::Unreadable, Place::source(path.display().to_string()), message);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
        kind => {
            let remedy = match kind {
                io::ErrorKind::PermissionDenied => "give yourself the right to read it",
                _ => "put a file in its place, or take it away",
            };
            Err(unreadable(format!("cannot be read: {error}")).help(remedy))
        }
    };
    // Asked before it is opened: a pipe would keep us waiting for a writer, a device might never end.
    match fs::metadata(path) {
        Ok(data) if data.is_file() => {}
        Ok(_) => {
            return Err(unreadable("is not a file".to_owned()).help("put a file in its place, or take it away"));
        }
        Err(error) => return failed(error),
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return failed(error),
    };
    let mut bytes = Vec::new();
    if let Err(error) = file.take(MAX_BYTES + 1).read_to_end(&mut bytes) {
        return Err(unreadable(format!("cannot be read: {error}")).help("see whether the disk is well"));
    }
    if bytes.len() as u64 > MAX_BYTES {
        let size = fs::metadata(path).map_or(0, |data| data.len());
        return Err(
            unreadable(format!("is of {size} bytes, more than the {MAX_BYTES} that are read"))
                .help("take out what does not belong there"),
        );
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        // What is before the first bad byte keeps its place.
        let text = String::from_utf8_lossy(error.as_bytes());
        Problem::new(
            Code::Syntax,
            Place::in_file(path, &text, Some(at..at + 1)),
            format!("byte {at} is not UTF-8"),
        )
        .help("save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn refusal(path: &Path) -> (String, String) {
        let problem = read(path).unwrap_err();
        (problem.message, problem.help.unwrap())
    }

    #[test]
    fn what_is_no_file_is_told_with_what_to_do_and_what_is_not_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert_eq!(read(&path("none.toml")).unwrap(), None);
        let in_its_place = "put a file in its place, or take it away".to_owned();
        assert_eq!(
            refusal(folder.path()),
            ("is not a file".to_owned(), in_its_place.clone())
        );
        symlink(path("loop.toml"), path("loop.toml")).unwrap();
        let (message, help) = refusal(&path("loop.toml"));
        assert!(message.starts_with("cannot be read: "), "{message}");
        assert_eq!(help, in_its_place);
    }
}
