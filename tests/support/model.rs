//! A stand-in for the Messages API on loopback: scripted, streaming, and it keeps what it was sent.

use std::collections::VecDeque;
use std::io::BufReader;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::PATIENCE;
use super::http::{self, Events, Incoming};
use super::reply::{self, Reply};
use super::request::{Asker, Request};

/// A handle on the server; clones share it. It lives as long as the test process.
#[derive(Clone)]
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

type Rule = Box<dyn FnMut(&Request) -> Option<Reply> + Send>;

#[derive(Default)]
struct State {
    script: VecDeque<Reply>,
    subagents: VecDeque<Reply>,
    summaries: VecDeque<Reply>,
    rules: Vec<Rule>,
    requests: Vec<Request>,
    answered: usize,
    under_way: usize,
    messages: usize,
}

impl Model {
    /// Starts a server on a free port of loopback.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback");
        let model = Self {
            address: listener.local_addr().unwrap(),
            shared: Arc::default(),
        };
        let serving = model.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // A connection that breaks is the client's affair: it hangs up when a person presses Escape.
                thread::spawn(move || serving.converse(stream));
            }
        });
        model
    }

    /// What `ANTHROPIC_BASE_URL` is set to.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds replies for the main conversation, used in order. When they run out the answer is `ok`.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state().script.extend(replies);
    }

    /// Adds replies for subagents, used in order by whichever asks. When they run out the answer is `agent done`.
    pub fn script_subagents(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state().subagents.extend(replies);
    }

    /// Adds replies for the client's own summaries. When they run out a short summary is made up.
    pub fn script_summaries(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state().summaries.extend(replies);
    }

    /// Adds a rule that is asked before the scripts: `None` leaves the request to the next rule, then to a script.
    pub fn rule(&self, rule: impl FnMut(&Request) -> Option<Reply> + Send + 'static) {
        self.state().rules.push(Box::new(rule));
    }

    /// Forgets the replies that were not used.
    pub fn clear_script(&self) {
        let mut state = self.state();
        state.script.clear();
        state.subagents.clear();
        state.summaries.clear();
    }

    /// How many scripted replies of the main conversation are left.
    pub fn replies_left(&self) -> usize {
        self.state().script.len()
    }

    /// The requests of the main conversation, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.requests_of(Asker::Main)
    }

    /// The requests of one asker, in order.
    pub fn requests_of(&self, asker: Asker) -> Vec<Request> {
        self.state()
            .requests
            .iter()
            .filter(|request| request.asker == asker)
            .cloned()
            .collect()
    }

    /// Every request of every asker, in order.
    pub fn all_requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    /// How many requests the main conversation has made.
    pub fn count(&self) -> usize {
        self.state()
            .requests
            .iter()
            .filter(|request| request.asker == Asker::Main)
            .count()
    }

    /// The newest request of the main conversation.
    #[track_caller]
    pub fn last(&self) -> Request {
        self.requests().pop().expect("the model was asked nothing")
    }

    /// Whether a request is being answered (or held).
    pub fn is_busy(&self) -> bool {
        self.state().under_way > 0
    }

    /// How many requests came, of whoever: a clock for [`super::Tty::wait_idle`].
    pub(super) fn activity(&self) -> (usize, usize) {
        let state = self.state();
        (state.requests.len(), state.answered)
    }

    /// Waits until the main conversation has made `n` requests in all, and returns the newest.
    #[track_caller]
    pub fn wait_for_requests(&self, n: usize) -> Request {
        self.wait_for_requests_of(Asker::Main, n)
    }

    /// Waits until an asker has made `n` requests in all, and returns its newest.
    #[track_caller]
    pub fn wait_for_requests_of(&self, asker: Asker, n: usize) -> Request {
        let here = |state: &State| state.requests.iter().filter(|request| request.asker == asker).count();
        assert!(
            self.wait(PATIENCE, |state| here(state) >= n),
            "the model was asked {} times by {asker:?}, not {n}, within {PATIENCE:?}",
            here(&self.state())
        );
        self.requests_of(asker).pop().unwrap()
    }

    /// Waits until a request satisfies the condition, looking also at those that came before, and returns it.
    #[track_caller]
    pub fn wait_for_request(&self, what: &str, mut wanted: impl FnMut(&Request) -> bool) -> Request {
        let mut found = None;
        self.wait(PATIENCE, |state| {
            found = state.requests.iter().rev().find(|request| wanted(request)).cloned();
            found.is_some()
        });
        found.unwrap_or_else(|| panic!("no request {what} came within {PATIENCE:?}"))
    }

    /// The last requests in outline, for failure messages.
    pub fn outline(&self) -> String {
        let state = self.state();
        let askers: Vec<String> = state
            .requests
            .iter()
            .map(|request| format!("{:?}", request.asker))
            .collect();
        let last = state.requests.iter().rev().find(|request| request.asker == Asker::Main);
        format!(
            "{} requests ({}), {} replies of the script left\nlast request of the main conversation: {}",
            askers.len(),
            askers.join(" "),
            state.script.len(),
            last.map_or_else(|| "none\n".to_owned(), Request::outline)
        )
    }

    fn wait(&self, patience: Duration, mut until: impl FnMut(&State) -> bool) -> bool {
        let end = Instant::now() + patience;
        let mut state = self.state();
        loop {
            if until(&state) {
                return true;
            }
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return false;
            };
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A rule that panics poisons the lock; what was recorded is still true and is wanted for the failure.
        self.shared
            .state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn converse(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut to = stream.try_clone()?;
        let mut from = BufReader::new(stream);
        while let Some(incoming) = Incoming::read(&mut from)? {
            if incoming.method == "HEAD" {
                http::answer(&mut to, 200, b"")?;
            } else if incoming.method != "POST" || !incoming.path.contains("/messages") {
                http::answer(&mut to, 404, error_body("not_found_error", "not found").as_bytes())?;
            } else if incoming.path.contains("count_tokens") {
                let body = json!({"input_tokens": (incoming.body.len() / 4).max(1)}).to_string();
                http::answer(&mut to, 200, body.as_bytes())?;
            } else {
                self.state().under_way += 1;
                let sent = self.answer(&mut to, incoming);
                let mut state = self.state();
                state.under_way -= 1;
                state.answered += 1;
                self.shared.changed.notify_all();
                drop(state);
                sent?;
            }
        }
        Ok(())
    }

    fn answer(&self, to: &mut TcpStream, incoming: Incoming) -> std::io::Result<()> {
        let Ok(body) = serde_json::from_slice::<Value>(&incoming.body) else {
            return http::answer(to, 400, error_body("invalid_request_error", "not JSON").as_bytes());
        };
        let bytes = incoming.body.len();
        let request = Request::new(body, incoming.headers, bytes);
        let (reply, number) = self.choose(&request);
        if let Some(gate) = &reply.gate {
            gate.wait();
        }
        thread::sleep(reply.delay);
        if let Some((status, kind, message)) = &reply.error {
            return http::answer(to, *status, error_body(kind, message).as_bytes());
        }
        let model = request.body["model"].as_str().unwrap_or("stand-in");
        let message = reply.message(number, model, bytes);
        if request.body["stream"] != json!(true) {
            return http::answer(to, 200, message.to_string().as_bytes());
        }
        let mut events = Events::begin(to)?;
        for event in reply::events(&message) {
            events.send(&event)?;
        }
        events.end()
    }

    fn choose(&self, request: &Request) -> (Reply, usize) {
        let mut state = self.state();
        state.messages += 1;
        let number = state.messages;
        state.requests.push(request.clone());
        self.shared.changed.notify_all();
        let mut rules = std::mem::take(&mut state.rules);
        let by_rule = rules.iter_mut().find_map(|rule| rule(request));
        state.rules = rules;
        let reply = by_rule.unwrap_or_else(|| match request.asker {
            Asker::Main => state.script.pop_front().unwrap_or_else(|| Reply::text("ok")),
            Asker::Subagent => state.subagents.pop_front().unwrap_or_else(|| Reply::text("agent done")),
            Asker::Summary => state
                .summaries
                .pop_front()
                .unwrap_or_else(|| Reply::summary("What was said, in short.")),
            Asker::Client => Reply::text("A title"),
        });
        (reply, number)
    }
}

fn error_body(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_stand_in"}).to_string()
}
