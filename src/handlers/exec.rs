//! `exec`: a program of the person's answers the event, so that a team adds a policy without forking. It is started
//! without a shell, gets the event as JSON, and answers with a reply of the wire.
//!
//! Only the person's own `hooks.toml` may have such a row; the check of the layers refuses it elsewhere. No value of a
//! layer or of an event becomes part of a command line that is read again.

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Call, Failure, Handler, options, registers_nothing};
use crate::paths;
use crate::wire::{Answer, Effect, Event, Reply, VERSION};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "exec",
    events: Event::ALL,
    wakes: &[],
    check_options,
    registers: registers_nothing,
    run,
};

/// The longest that a program may take, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 20_000;
/// The largest answer, in bytes: what the client takes from a hook.
const MAX_OUTPUT_BYTES: u64 = 4 * 1024 * 1024;
/// How much of what the program says on standard error goes into the log.
const KEPT_STDERR: usize = 2000;
/// What is left of the hook's own time to say that the program took too long.
const RESERVE: Duration = Duration::from_millis(250);

/// The options of the handler.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The program and its arguments, one entry each. No shell reads them. The program is an absolute path, a path that
    /// begins with `~/`, or a name that is looked for on the PATH.
    #[schemars(length(min = 1), extend("examples" = [["~/bin/compaction-policy", "--strict"]]))]
    argv: Vec<String>,
    /// How long it may take, in milliseconds. It is killed then with everything that it has started. Never longer than
    /// `helper.timeout_ms` allows.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 10, max = 20_000))]
    timeout_ms: u64,
    /// How much it may answer, in bytes. It is killed when it writes more.
    #[serde(default = "default_output")]
    #[schemars(range(min = 1, max = 4_194_304))]
    max_output_bytes: u64,
}

const fn default_timeout() -> u64 {
    2000
}

const fn default_output() -> u64 {
    262_144
}

fn check_options(given: &Map<String, Value>) -> Result<(), String> {
    let options: Options = options(given)?;
    let Some(program) = options.argv.first().filter(|program| !program.trim().is_empty()) else {
        return Err("`argv` names no program; give at least one entry".to_owned());
    };
    if program.contains('/') && !program.starts_with('/') && !program.starts_with("~/") {
        return Err(format!(
            "`{program}` would be looked for in the session's folder, which may be anybody's; \
             give an absolute path, one with `~/`, or a plain name"
        ));
    }
    if options.argv.iter().any(|word| word.contains('\0')) {
        return Err("`argv` has a NUL character; take it out".to_owned());
    }
    if !(10..=MAX_TIMEOUT_MS).contains(&options.timeout_ms) {
        return Err(format!(
            "`timeout_ms` is {}; give 10 to {MAX_TIMEOUT_MS}",
            options.timeout_ms
        ));
    }
    if !(1..=MAX_OUTPUT_BYTES).contains(&options.max_output_bytes) {
        return Err(format!(
            "`max_output_bytes` is {}; give 1 to {MAX_OUTPUT_BYTES}",
            options.max_output_bytes
        ));
    }
    Ok(())
}

/// What the program gets on standard input: the request without the state, which is not its business.
#[derive(Serialize)]
struct Given<'a> {
    v: u32,
    event: &'a str,
    row: &'a str,
    e: Option<&'a serde_json::value::RawValue>,
    facts: &'a crate::wire::Facts,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let options: Options = call.options()?;
    let command = command(&options, call)?;
    let input = serde_json::to_vec(&Given {
        v: VERSION,
        event: call.event.name(),
        row: call.id,
        e: call.e,
        facts: call.facts,
    })
    .map_err(|error| Failure(format!("the event cannot be written: {error}")))?;
    let of_hook = match call.event {
        Event::SessionCompact => call.config.helper.compaction_timeout_ms,
        _ => call.config.helper.timeout_ms,
    };
    let most = Duration::from_millis(of_hook).saturating_sub(RESERVE);
    let timeout = Duration::from_millis(options.timeout_ms).min(most);

    let begun = Instant::now();
    let ended = run_bounded(command, &input, timeout, options.max_output_bytes);
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let program = options.argv.first().map(String::as_str).unwrap_or_default();
    match &ended {
        Ok(ended) => tracing::info!(
            row = call.id, program, took_ms, status = %ended.status, bytes = ended.stdout.len(),
            stderr = %ended.stderr, "program ended"
        ),
        Err(reason) => tracing::warn!(row = call.id, program, took_ms, %reason, "program failed"),
    }
    let ended = ended.map_err(|reason| Failure(format!("`{program}` {reason}")))?;
    if !ended.status.success() {
        return Err(Failure(format!("`{program}` ended with {}", ended.status)));
    }
    answer(call, program, &ended.stdout)
}

fn answer(call: &mut Call<'_>, program: &str, stdout: &[u8]) -> Result<Option<Answer>, Failure> {
    if stdout.trim_ascii().is_empty() {
        return Ok(None);
    }
    let reply: Reply = serde_json::from_slice(stdout)
        .map_err(|error| Failure(format!("`{program}` answers with something else than a reply: {error}")))?;
    if reply.v != VERSION {
        return Err(Failure(format!(
            "`{program}` answers in version {}, this program speaks version {VERSION}",
            reply.v
        )));
    }
    if let Some(answer) = &reply.answer
        && !fits(call.event, answer)
    {
        return Err(Failure(format!(
            "`{program}` gives an answer that `{}` does not take",
            call.event.name()
        )));
    }
    for effect in reply.effects {
        // The window's own steps hang on what the other effects do.
        let Effect::Log { text } = effect else {
            return Err(Failure(format!(
                "`{program}` asks for an effect; `log` is the only one that it may"
            )));
        };
        call.say(text);
    }
    Ok(reply.answer)
}

const fn fits(event: Event, answer: &Answer) -> bool {
    match answer {
        Answer::Next { .. } | Answer::Skip { .. } | Answer::Messages { .. } => matches!(event, Event::SessionCompact),
        Answer::Context { .. } => matches!(
            event,
            Event::ClassicSessionStart
                | Event::ClassicUserPromptSubmit
                | Event::ClassicPostToolBatch
                | Event::ClassicStop
        ),
        Answer::Blocks { .. } => matches!(event, Event::PromptContext),
        Answer::Lines { .. } => matches!(event, Event::CommandRun),
        Answer::Tool { .. } => matches!(event, Event::ToolCall),
    }
}

fn command(options: &Options, call: &Call<'_>) -> Result<Command, Failure> {
    let Some((program, arguments)) = options.argv.split_first() else {
        return Err(Failure("the row names no program".to_owned()));
    };
    let of_project = &call.facts.settings.project_env;
    if !program.contains('/') && of_project.iter().any(|name| name == "PATH") {
        return Err(Failure(format!(
            "`{program}` is not looked for, since this project's settings set the PATH; give an absolute path"
        )));
    }
    let program = match (program.strip_prefix("~/"), paths::home()) {
        (Some(_), _) if of_project.iter().any(|name| name == "HOME") => {
            return Err(Failure(
                "`~` is not known, since this project's settings set HOME; give an absolute path".to_owned(),
            ));
        }
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(program),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    // What a cloned repository puts into the environment is not for the person's programs.
    for name in of_project
        .iter()
        .filter(|name| !name.is_empty() && !name.contains(['=', '\0']))
    {
        command.env_remove(name);
    }
    if let Some(cwd) = call.facts.cwd.as_deref().map(Path::new).filter(|cwd| cwd.is_dir()) {
        command.current_dir(cwd);
    }
    Ok(command)
}

#[derive(Debug)]
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error("cannot be started: {0}")]
    NotStarted(std::io::Error),
    #[error("was killed after {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("was killed when it had written more than {0} bytes")]
    TooMuch(u64),
    #[error("was lost: {0}")]
    Lost(std::io::Error),
}

enum News {
    Exited,
    TooMuch,
}

/// Runs a program in a process group of its own, which is killed when it has taken too long, written too much, or ended:
/// nothing that it started stays behind in the group.
fn run_bounded(mut command: Command, input: &[u8], timeout: Duration, most: u64) -> Result<Ended, Stopped> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(Stopped::NotStarted)?;
    let pid = Pid::from_child(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (sender, news) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A program may answer without reading all of it.
                let _ = stdin.write_all(input);
            }
        });
        let of_reader = sender.clone();
        let out = scope.spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut stdout) = stdout {
                let _ = stdout.by_ref().take(most + 1).read_to_end(&mut bytes);
                if bytes.len() as u64 > most {
                    let _ = of_reader.send(News::TooMuch);
                }
            }
            bytes
        });
        let err = scope.spawn(move || stderr.map(head_of).unwrap_or_default());
        scope.spawn(move || {
            // The child stays a zombie until it is killed and waited for below, so that its number is not another's.
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = sender.send(News::Exited);
        });
        let news = news.recv_timeout(timeout);
        let _ = kill_process_group(pid, Signal::KILL);
        let status = wait(&mut child);
        let stdout = out.join().unwrap_or_default();
        let stderr = err.join().unwrap_or_default();
        match news {
            Err(_) => Err(Stopped::TimedOut(timeout)),
            Ok(News::TooMuch) => Err(Stopped::TooMuch(most)),
            Ok(News::Exited) if stdout.len() as u64 > most => Err(Stopped::TooMuch(most)),
            Ok(News::Exited) => Ok(Ended {
                status: status?,
                stdout,
                stderr,
            }),
        }
    })
}

fn wait(child: &mut Child) -> Result<ExitStatus, Stopped> {
    child.wait().map_err(Stopped::Lost)
}

/// The beginning of what a stream says; the rest is read and dropped, so that the writer is not held up.
fn head_of(mut stream: impl Read) -> String {
    let mut head = Vec::new();
    let _ = stream.by_ref().take(KEPT_STDERR as u64).read_to_end(&mut head);
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
    String::from_utf8_lossy(&head).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sh(script: &str, input: &[u8], timeout_ms: u64, most: u64) -> Result<Ended, Stopped> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        run_bounded(command, input, Duration::from_millis(timeout_ms), most)
    }

    #[test]
    fn a_program_reads_the_event_and_its_answer_is_taken() {
        let ended = sh("cat; echo said >&2", b"{}", 10_000, 100).unwrap();
        assert_eq!((ended.stdout.as_slice(), ended.stderr.as_str()), (&b"{}"[..], "said"));
        assert!(ended.status.success());
        // One that does not read a long event is no fault.
        let ended = sh("echo ok", &vec![b'x'; 10_000_000], 10_000, 100).unwrap();
        assert_eq!(ended.stdout, b"ok\n");
    }

    #[test]
    fn at_the_timeout_it_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("pids");
        let script = format!("sleep 600 & echo $! > '{0}'; sleep 600", mark.display());
        // Long enough for a busy machine to start a shell, short beside the sleep.
        let stopped = sh(&script, b"", 3000, 100).unwrap_err();
        assert!(matches!(stopped, Stopped::TimedOut(_)), "{stopped}");
        let child: i32 = std::fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
        assert_is_gone(child);
    }

    #[test]
    fn what_it_leaves_behind_is_killed_when_it_ends() {
        let ended = sh("sleep 600 & echo $!", b"", 60_000, 100).unwrap();
        let child: i32 = String::from_utf8(ended.stdout).unwrap().trim().parse().unwrap();
        assert_is_gone(child);
    }

    /// A killed child of a child is a zombie until its new parent has waited for it.
    fn assert_is_gone(pid: i32) {
        let state = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(") ").next().and_then(|rest| rest.chars().next())
        };
        for _ in 0..500 {
            if matches!(state(), None | Some('Z' | 'X')) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("process {pid} still runs");
    }

    #[test]
    fn one_that_writes_too_much_is_killed() {
        let stopped = sh("yes", b"", 60_000, 1000).unwrap_err();
        assert!(matches!(stopped, Stopped::TooMuch(1000)), "{stopped}");
    }

    #[test]
    fn one_that_is_not_there_says_so() {
        let missing = Command::new("/nowhere/at-all");
        let stopped = run_bounded(missing, b"", Duration::from_secs(1), 10).unwrap_err();
        assert!(stopped.to_string().starts_with("cannot be started: "), "{stopped}");
    }

    #[test]
    fn only_a_path_that_cannot_be_the_projects_names_a_program() {
        let check = |options: Value| check_options(options.as_object().unwrap());
        for good in [
            json!({ "argv": ["true"] }),
            json!({ "argv": ["/bin/true", "./x"] }),
            json!({ "argv": ["~/x"], "timeout_ms": 10 }),
        ] {
            assert_eq!(check(good), Ok(()));
        }
        for bad in [
            json!({}),
            json!({ "argv": [] }),
            json!({ "argv": [""] }),
            json!({ "argv": "true" }),
            json!({ "argv": ["./policy"] }),
            json!({ "argv": ["bin/policy"] }),
            json!({ "argv": ["true", "a\0b"] }),
            json!({ "argv": ["true"], "timeout_ms": 0 }),
            json!({ "argv": ["true"], "timeout_ms": 20_001 }),
            json!({ "argv": ["true"], "max_output_bytes": 0 }),
            json!({ "argv": ["true"], "shell": true }),
        ] {
            assert!(check(bad.clone()).is_err(), "{bad}");
        }
    }
}
