//! `notesoup hook` and `notesoup plan`: what the courier calls. One JSON request on standard input, one line of JSON on
//! standard output.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Global;
use crate::handlers::{SessionState, World, dispatch, plan};
use crate::wire::{ErrorKind, Facts, MAX_REQUEST_BYTES, Request, VERSION, WireError, mend};

/// Runs `hook` or `plan` when the first argument names one, without building the parser of the other commands: it
/// costs a quarter of a millisecond, as much as everything else that an event without an answer needs.
pub(super) fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let answer = match args.next()?.to_str()? {
        "hook" => hook,
        "plan" => plan_for,
        _ => return None,
    };
    // With options or `--help` the parser takes over.
    if args.next().is_some() {
        return None;
    }
    Some(run(answer, &mut World::of_process()))
}

/// `notesoup hook` with options.
pub(super) fn run_hook(global: &Global) -> ExitCode {
    run(hook, &mut world(global))
}

/// `notesoup plan` with options.
pub(super) fn run_plan(global: &Global) -> ExitCode {
    run(plan_for, &mut world(global))
}

fn world(global: &Global) -> World {
    global.world()
}

type Answerer = fn(&[u8], &mut World) -> Result<String, WireError>;

fn run(answer: Answerer, world: &mut World) -> ExitCode {
    super::log::start(world.state_dir.as_deref());
    let line = read_request().and_then(|request| answer(&request, world));
    let (line, code) = match line {
        Ok(line) => (line, 0),
        Err(error) => (error.to_line(), error.kind.exit_code()),
    };
    let mut out = io::stdout().lock();
    match out
        .write_all(line.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
    {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::from(ErrorKind::Io.exit_code()),
    }
}

fn read_request() -> Result<Vec<u8>, WireError> {
    let mut request = Vec::with_capacity(4096);
    io::stdin()
        .lock()
        .take(MAX_REQUEST_BYTES + 1)
        .read_to_end(&mut request)
        .map_err(|error| WireError::new(ErrorKind::Io, format!("the request cannot be read: {error}")))?;
    if request.len() as u64 > MAX_REQUEST_BYTES {
        let limit = MAX_REQUEST_BYTES / (1024 * 1024);
        return Err(WireError::new(
            ErrorKind::TooLarge,
            format!("the request is over {limit} MiB"),
        ));
    }
    mend(&mut request);
    Ok(request)
}

fn hook(request: &[u8], world: &mut World) -> Result<String, WireError> {
    let request: Request<'_> = serde_json::from_slice(request).map_err(|error| bad_request(&error))?;
    let reply = dispatch(&request, world)?;
    to_line(&reply)
}

#[derive(Deserialize)]
struct PlanRequest<'a> {
    v: u32,
    #[serde(default)]
    e: PlanInput,
    #[serde(default)]
    facts: Facts,
    #[serde(borrow, default)]
    state: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanInput {
    fingerprint: Option<String>,
}

fn plan_for(request: &[u8], world: &mut World) -> Result<String, WireError> {
    let request: PlanRequest<'_> = serde_json::from_slice(request).map_err(|error| bad_request(&error))?;
    if request.v != VERSION {
        return Err(WireError::new(
            ErrorKind::UnsupportedVersion,
            format!(
                "the request is of version {}, this program speaks version {VERSION}",
                request.v
            ),
        ));
    }
    let state = SessionState::parse(request.state);
    to_line(&plan(&request.facts, &state, request.e.fingerprint.as_deref(), world))
}

fn to_line(reply: &impl serde::Serialize) -> Result<String, WireError> {
    serde_json::to_string(reply)
        .map_err(|error| WireError::new(ErrorKind::Io, format!("the reply cannot be written: {error}")))
}

fn bad_request(error: &serde_json::Error) -> WireError {
    let message = if error.is_eof() {
        "the request ends before it is complete".to_owned()
    } else {
        format!("this is no request: {error}")
    };
    WireError::new(ErrorKind::BadRequest, message)
}
