//! The client in a pseudo-terminal: type, look, wait for what happens.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use vt100::{Callbacks, Parser, Screen};

use super::build::target;
use super::logs::Logs;
use super::model::Model;
use super::{PATIENCE, screen};

/// How long nothing may have happened before the client is taken for idle.
const SETTLE: Duration = Duration::from_millis(400);

/// A key as a terminal sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Enter,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Tab,
    ShiftTab,
    Backspace,
    /// Control and a letter, for instance `Ctrl('c')`.
    Ctrl(char),
}

impl Key {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Enter => b"\r".to_vec(),
            Self::Escape => b"\x1b".to_vec(),
            Self::Up => b"\x1b[A".to_vec(),
            Self::Down => b"\x1b[B".to_vec(),
            Self::Right => b"\x1b[C".to_vec(),
            Self::Left => b"\x1b[D".to_vec(),
            Self::Tab => b"\t".to_vec(),
            Self::ShiftTab => b"\x1b[Z".to_vec(),
            Self::Backspace => b"\x7f".to_vec(),
            Self::Ctrl(letter) => vec![letter.to_ascii_uppercase() as u8 & 0x1f],
        }
    }
}

#[derive(Default)]
struct Title(String);

impl Callbacks for Title {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.0 = String::from_utf8_lossy(title).into_owned();
    }
}

struct Shown {
    parser: Parser<Title>,
    closed: bool,
}

/// An interactive session. Dropped after a failure it prints and draws its last screen.
pub struct Tty {
    shown: Arc<(Mutex<Shown>, Condvar)>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    model: Model,
    logs: Logs,
    debug: PathBuf,
    _master: Box<dyn MasterPty + Send>,
}

impl Tty {
    #[track_caller]
    pub(super) fn start(
        program: &Path,
        args: &[OsString],
        env: &BTreeMap<String, String>,
        cwd: &Path,
        debug: PathBuf,
        model: Model,
        logs: Logs,
    ) -> Self {
        let size = PtySize {
            rows: 45,
            cols: 150,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        for (name, value) in env {
            command.env(name, value);
        }
        command.cwd(cwd);
        command.args(args);
        let child = pair
            .slave
            .spawn_command(command)
            .expect("the client starts in a pseudo-terminal");
        drop(pair.slave);
        let parser = Parser::new_with_callbacks(size.rows, size.cols, 0, Title::default());
        let shown = Arc::new((Mutex::new(Shown { parser, closed: false }), Condvar::new()));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let drawing = Arc::clone(&shown);
        thread::spawn(move || {
            let mut buffer = [0; 65536];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut shown = drawing.0.lock().unwrap();
                shown.parser.process(&buffer[..read]);
                shown.closed = read == 0;
                drawing.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        let tty = Self {
            shown,
            writer,
            child,
            model,
            logs,
            debug,
            _master: pair.master,
        };
        tty.wait_until("a prompt box", is_idle);
        tty.wait_idle();
        tty
    }

    /// Types a prompt or command and presses Enter when the client has drawn it. Does not wait for an answer.
    #[track_caller]
    pub fn type_line(&mut self, line: &str) {
        self.type_text(line);
        self.press(Key::Enter);
        // The box is emptied when the line was taken.
        let tail = tail_of(line);
        self.wait_until("the line to be taken", |screen, _| !prompt_box(screen).contains(&tail));
    }

    /// Types a prompt, waits for the model to be asked (once more than now), and for the client to be idle again.
    #[track_caller]
    pub fn ask(&mut self, prompt: &str) {
        let before = self.model.count();
        self.type_line(prompt);
        self.model.wait_for_requests(before + 1);
        self.wait_idle();
    }

    /// Types a line that asks the model nothing, and waits for the client to be idle.
    #[track_caller]
    pub fn command(&mut self, line: &str) {
        self.type_line(line);
        self.wait_idle();
    }

    /// Types without Enter, and waits until the text stands in the prompt box.
    #[track_caller]
    pub fn type_text(&mut self, text: &str) {
        self.send(text.as_bytes());
        let tail = tail_of(text);
        self.wait_until("the typed text", |screen, _| prompt_box(screen).contains(&tail));
    }

    /// Pastes a text of one or several lines as a terminal does.
    #[track_caller]
    pub fn paste(&mut self, text: &str) {
        let mut bytes = b"\x1b[200~".to_vec();
        bytes.extend(text.as_bytes());
        bytes.extend(b"\x1b[201~");
        self.send(&bytes);
        self.wait_until("the pasted text", |screen, _| !prompt_box(screen).is_empty());
    }

    /// Presses a key.
    #[track_caller]
    pub fn press(&mut self, key: Key) {
        self.send(&key.bytes());
        if key == Key::Escape {
            // What follows an Escape at once is read as one key with it.
            thread::sleep(Duration::from_millis(150));
        }
    }

    /// Empties the prompt box.
    #[track_caller]
    pub fn clear_prompt_box(&mut self) {
        for _ in 0..20 {
            if self.prompt_box().is_empty() {
                return;
            }
            self.press(Key::Ctrl('u'));
            thread::sleep(Duration::from_millis(100));
        }
        panic!("the prompt box still holds {:?}", self.prompt_box());
    }

    /// Takes the conversation back to before the nth newest prompt (1 is the newest), whose text then stands in the
    /// prompt box.
    #[track_caller]
    pub fn rewind(&mut self, nth_newest: usize) {
        self.type_line("/rewind");
        self.wait_for_screen("Enter to continue");
        for _ in 0..nth_newest {
            let before = list(self.shown().parser.screen());
            self.press(Key::Up);
            self.wait_until("the entry above", |screen, _| list(screen) != before);
        }
        self.press(Key::Enter);
        self.wait_for_screen("Never mind");
        // Behind a turn that changed files the first choice takes the code back as well.
        while !chosen_entry(self.shown().parser.screen()).contains(". Restore conversation") {
            let before = list(self.shown().parser.screen());
            self.press(Key::Down);
            self.wait_until("the choice below", |screen, _| list(screen) != before);
        }
        self.press(Key::Enter);
        self.wait_until("the prompt to be back in the box", |screen, title| {
            is_idle(screen, title) && !prompt_box(screen).is_empty()
        });
        self.wait_idle();
    }

    /// Sends raw bytes.
    #[track_caller]
    pub fn send(&mut self, bytes: &[u8]) {
        self.writer
            .write_all(bytes)
            .and_then(|()| self.writer.flush())
            .expect("the client's terminal is open");
    }

    /// The screen's text, a line a row.
    pub fn screen_text(&self) -> String {
        self.shown().parser.screen().contents()
    }

    /// What stands in the prompt box, white space left out.
    pub fn prompt_box(&self) -> String {
        prompt_box(self.shown().parser.screen())
    }

    /// Whether a text is on the screen; line breaks and runs of blanks count as one blank.
    pub fn shows(&self, text: &str) -> bool {
        shows(self.shown().parser.screen(), text)
    }

    /// Waits until a text is on the screen, wherever the client broke its lines.
    #[track_caller]
    pub fn wait_for_screen(&self, text: &str) {
        self.wait_until(&format!("the text {text:?}"), |screen, _| shows(screen, text));
    }

    /// Waits until a text is no longer on the screen.
    #[track_caller]
    pub fn wait_until_gone(&self, text: &str) {
        self.wait_until(&format!("{text:?} to go"), |screen, _| !shows(screen, text));
    }

    /// Waits until the client works on something.
    #[track_caller]
    pub fn wait_busy(&self) {
        self.wait_until("work to begin", |screen, title| !is_idle(screen, title));
    }

    /// Waits until the client has nothing to do: it says so in its title and on its screen, and for a while no request
    /// came and neither log grew.
    #[track_caller]
    pub fn wait_idle(&self) {
        let end = Instant::now() + PATIENCE * 2;
        let mut quiet_since = Instant::now();
        let mut before = self.traces();
        loop {
            thread::sleep(Duration::from_millis(25));
            let idle = {
                let shown = self.shown();
                assert!(!shown.closed, "the client has ended");
                is_idle(shown.parser.screen(), &shown.parser.callbacks().0)
            };
            let now = self.traces();
            if !idle || now != before {
                before = now;
                quiet_since = Instant::now();
            } else if quiet_since.elapsed() >= SETTLE {
                return;
            }
            assert!(
                Instant::now() < end,
                "the client did not come to rest\n{}",
                self.screen_text()
            );
        }
    }

    fn traces(&self) -> ((usize, usize), u64) {
        (
            self.model.activity(),
            fs::metadata(&self.debug).map_or(0, |meta| meta.len()),
        )
    }

    /// Waits until screen and window title satisfy a condition.
    #[track_caller]
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&Screen, &str) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut shown = self.shown();
        loop {
            if wanted(shown.parser.screen(), &shown.parser.callbacks().0) {
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!shown.closed, "the client ended while a test waited for {what}");
            if left.is_zero() {
                drop(shown);
                panic!("no sign of {what} within {PATIENCE:?}");
            }
            shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// Keeps the screen as text and as a drawing below `target/screens/`, named for test and moment.
    pub fn screenshot(&self, moment: &str) -> PathBuf {
        let test = thread::current().name().unwrap_or("scenario").replace("::", "/");
        let folder = target().join("screens").join(test);
        fs::create_dir_all(&folder).unwrap();
        let shown = self.shown();
        let screen = shown.parser.screen();
        fs::write(folder.join(format!("{moment}.txt")), screen.contents()).unwrap();
        let drawing = folder.join(format!("{moment}.svg"));
        fs::write(&drawing, screen::svg(screen)).unwrap();
        drawing
    }

    /// Leaves as a person does, by Ctrl+C twice, and waits for the client's end.
    #[track_caller]
    pub fn leave(mut self) {
        self.press(Key::Ctrl('c'));
        self.wait_until("the question whether to leave", |screen, _| {
            shows(screen, "Press Ctrl-C again to exit") || shows(screen, "again to exit")
        });
        self.press(Key::Ctrl('c'));
        self.wait_for_end();
    }

    /// Waits until the client has ended by itself.
    #[track_caller]
    pub fn wait_for_end(&mut self) {
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "the client did not end");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.0.lock().unwrap()
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        if thread::panicking() {
            // Before the end: the client gives the screen back when it is ended.
            let drawing = self.screenshot("failure");
            eprintln!(
                "\n===== the last screen, drawn in {} =====\n{}",
                drawing.display(),
                self.screen_text()
            );
        }
        // Not before: it clears the screen when it goes. It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The client keeps a star in its window title while it waits for the person, and offers Escape while it works.
fn is_idle(screen: &Screen, title: &str) -> bool {
    let text = screen.contents();
    title.starts_with('✳') && !text.contains("esc to interrupt") && text.lines().any(|line| line.starts_with('❯'))
}

/// What stands in the box between the last two rules, without the arrow and white space.
fn prompt_box(screen: &Screen) -> String {
    let text = screen.contents();
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &&str| line.starts_with("────");
    let Some(bottom) = lines.iter().rposition(is_rule) else {
        return String::new();
    };
    let Some(top) = lines[..bottom].iter().rposition(is_rule) else {
        return String::new();
    };
    squeezed(&lines[top + 1..bottom].concat().replacen('❯', "", 1))
}

/// The marked entry of a list that has taken the place of the prompt box.
fn chosen_entry(screen: &Screen) -> String {
    screen
        .contents()
        .lines()
        .rfind(|line| line.trim_start().starts_with('❯'))
        .unwrap_or_default()
        .to_owned()
}

/// A list that has taken the place of the prompt box, below its rule.
fn list(screen: &Screen) -> String {
    let text = screen.contents();
    text.rsplit_once('▔')
        .map_or_else(String::new, |(_, list)| list.to_owned())
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Enough of a text's end to know it by, as it stands in the prompt box.
fn tail_of(text: &str) -> String {
    let all = squeezed(text);
    let from = all.char_indices().rev().nth(39).map_or(0, |(at, _)| at);
    all[from..].to_owned()
}

fn shows(screen: &Screen, text: &str) -> bool {
    let blanks = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    blanks(&screen.contents()).contains(&blanks(text))
}
