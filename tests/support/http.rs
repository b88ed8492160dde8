//! The few lines of HTTP/1.1 that the client speaks: requests with a length, answers with a length or in chunks.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// One request as it came over the wire.
pub struct Incoming {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Incoming {
    /// Reads the next request of a kept-alive connection, `None` when the peer has closed it.
    pub fn read(from: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let method = words.next().unwrap_or_default().to_owned();
        let path = words.next().unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if from.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, v)| v.clone());
        let mut body = Vec::new();
        if let Some(length) = header("content-length").and_then(|value| value.parse::<u64>().ok()) {
            from.take(length).read_to_end(&mut body)?;
        } else if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            body = read_chunks(from)?;
        }
        Ok(Some(Self {
            method,
            path,
            headers,
            body,
        }))
    }

    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.as_str())
    }
}

fn read_chunks(from: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim().split(';').next().unwrap_or_default(), 16).unwrap_or(0);
        from.by_ref().take(length).read_to_end(&mut body)?;
        let mut end = String::new();
        from.read_line(&mut end)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

/// Sends a whole JSON answer.
pub fn answer(to: &mut TcpStream, status: u16, body: &[u8]) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        if status < 400 { "OK" } else { "Error" },
        body.len()
    );
    to.write_all(head.as_bytes())?;
    to.write_all(body)?;
    to.flush()
}

/// A stream of server-sent events that is open until [`Events::end`].
pub struct Events<'a> {
    to: &'a mut TcpStream,
}

impl<'a> Events<'a> {
    pub fn begin(to: &'a mut TcpStream) -> io::Result<Self> {
        to.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )?;
        Ok(Self { to })
    }

    pub fn send(&mut self, event: &serde_json::Value) -> io::Result<()> {
        let name = event["type"].as_str().unwrap_or_default();
        let text = format!("event: {name}\ndata: {event}\n\n");
        write!(self.to, "{:x}\r\n{text}\r\n", text.len())?;
        self.to.flush()
    }

    pub fn end(self) -> io::Result<()> {
        self.to.write_all(b"0\r\n\r\n")?;
        self.to.flush()
    }
}
