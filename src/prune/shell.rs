//! A shell command taken apart, as far as it takes to know which programs it runs.

/// How deep `sh -c "…"` may be nested.
const MAX_DEPTH: usize = 4;

/// One simple command: its words without assignments and wrappers, and whether its output goes elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// The program's name without its folder, then its arguments.
    pub words: Vec<String>,
    /// Whether it writes into a file (`>`).
    pub writes: bool,
}

/// The simple commands of a command line, through pipes, lists, subshells and `sh -c`.
///
/// A part that cannot be taken apart (an open quote) is left out.
pub fn commands(line: &str) -> Vec<Simple> {
    let mut all = Vec::new();
    collect(line, 0, &mut all);
    all
}

fn collect(line: &str, depth: usize, all: &mut Vec<Simple>) {
    for part in parts(line) {
        let writes = part.writes;
        let Some(words) = shlex::split(&part.text) else {
            continue;
        };
        let words = strip(words);
        let Some(program) = words.first() else { continue };
        let inner = matches!(program.as_str(), "sh" | "bash" | "zsh" | "dash")
            .then(|| words.iter().position(|word| is_c_flag(word)))
            .flatten()
            .and_then(|flag| words.get(flag + 1));
        match inner {
            Some(inner) if depth < MAX_DEPTH => collect(inner, depth + 1, all),
            _ => all.push(Simple { words, writes }),
        }
    }
}

fn is_c_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
}

struct Part {
    text: String,
    writes: bool,
}

/// Splits at the shell's operators, outside of quotes; bodies of here-documents are no commands.
fn parts(line: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut writes = false;
    let mut heredocs: Vec<String> = Vec::new();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                text.push(character);
                text.extend(characters.next());
            }
            '\'' | '"' => {
                text.push(character);
                quoted(character, &mut characters, &mut text);
            }
            '#' if text.is_empty() || text.ends_with(char::is_whitespace) => {
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            '<' if characters.peek() == Some(&'<') => {
                characters.next();
                if characters.next_if_eq(&'<').is_none() {
                    heredocs.push(delimiter(&mut characters));
                }
            }
            '>' => {
                writes |= redirect(&mut characters, &mut text);
            }
            '\n' => {
                end(&mut parts, &mut text, &mut writes);
                for delimiter in heredocs.drain(..) {
                    skip_heredoc(&mut characters, &delimiter);
                }
            }
            ';' | '|' | '&' | '(' | ')' | '`' | '{' | '}' => {
                // `{` and `}` end a part only as words of their own; `$(` opens one anyhow.
                if matches!(character, '{' | '}') && !alone(&text, characters.peek().copied()) {
                    text.push(character);
                } else {
                    if text.ends_with('$') {
                        text.pop();
                    }
                    end(&mut parts, &mut text, &mut writes);
                }
            }
            _ => text.push(character),
        }
    }
    end(&mut parts, &mut text, &mut writes);
    parts
}

fn alone(before: &str, after: Option<char>) -> bool {
    let starts = before.is_empty() || before.ends_with(char::is_whitespace);
    starts && after.is_none_or(|after| after.is_whitespace() || after == ';')
}

fn end(parts: &mut Vec<Part>, text: &mut String, writes: &mut bool) {
    let part = std::mem::take(text);
    if !part.trim().is_empty() {
        parts.push(Part {
            text: part,
            writes: *writes,
        });
    }
    *writes = false;
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn quoted(quote: char, characters: &mut Characters<'_>, text: &mut String) {
    while let Some(next) = characters.next() {
        text.push(next);
        if next == quote {
            return;
        }
        if next == '\\' && quote == '"' {
            text.extend(characters.next());
        }
    }
}

/// Behind a `>`: takes the target away, and says whether it is a file. `2>&1` and `>/dev/null` write nothing.
fn redirect(characters: &mut Characters<'_>, text: &mut String) -> bool {
    // The file descriptor in front of it is no word of the command.
    if text.ends_with(|last: char| last.is_ascii_digit()) {
        let word = text.rfind(char::is_whitespace).map_or(0, |index| index + 1);
        if text[word..].chars().all(|character| character.is_ascii_digit()) {
            text.truncate(word);
        }
    }
    characters.next_if_eq(&'>');
    characters.next_if_eq(&'|');
    let to_descriptor = characters.next_if_eq(&'&').is_some();
    while characters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
    let target = word(characters);
    text.push(' ');
    !to_descriptor && target != "/dev/null"
}

fn word(characters: &mut Characters<'_>) -> String {
    let mut word = String::new();
    while let Some(next) =
        characters.next_if(|next| !next.is_whitespace() && !matches!(next, ';' | '|' | '&' | '(' | ')' | '<' | '>'))
    {
        match next {
            '\'' | '"' => {
                quoted(next, characters, &mut word);
                word.pop();
            }
            '\\' => word.extend(characters.next()),
            _ => word.push(next),
        }
    }
    word
}

fn delimiter(characters: &mut Characters<'_>) -> String {
    characters.next_if_eq(&'-');
    while characters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
    word(characters)
}

fn skip_heredoc(characters: &mut Characters<'_>, delimiter: &str) {
    loop {
        let mut line = String::new();
        let mut ended = false;
        for next in characters.by_ref() {
            if next == '\n' {
                ended = true;
                break;
            }
            line.push(next);
        }
        if line.trim_start_matches('\t') == delimiter || !ended {
            return;
        }
    }
}

/// Takes off assignments (`A=b`), words of the shell's grammar, and programs that run another one.
fn strip(words: Vec<String>) -> Vec<String> {
    let mut words = words.into_iter().peekable();
    loop {
        let Some(word) = words.peek() else { return Vec::new() };
        if is_assignment(word)
            || matches!(
                word.as_str(),
                "!" | "if" | "then" | "else" | "elif" | "while" | "until" | "do"
            )
        {
            words.next();
            continue;
        }
        let wrapper = word.rsplit('/').next().unwrap_or_default().to_owned();
        if !matches!(
            wrapper.as_str(),
            "env"
                | "command"
                | "builtin"
                | "exec"
                | "sudo"
                | "time"
                | "nohup"
                | "nice"
                | "timeout"
                | "stdbuf"
                | "ionice"
        ) {
            break;
        }
        words.next();
        let takes_value = |flag: &str| match wrapper.as_str() {
            "env" => matches!(flag, "-u" | "-C" | "--unset" | "--chdir"),
            "sudo" => matches!(flag, "-u" | "-g" | "-h" | "-p" | "-C" | "-D"),
            "nice" | "ionice" => matches!(flag, "-n" | "-c"),
            "timeout" => matches!(flag, "-k" | "-s" | "--signal" | "--kill-after"),
            _ => false,
        };
        while let Some(flag) = words.next_if(|word| word.starts_with('-')) {
            if takes_value(&flag) {
                words.next();
            }
        }
        if wrapper == "timeout" {
            words.next();
        }
    }
    let mut words: Vec<String> = words.collect();
    if let Some(program) = words.first_mut()
        && let Some((_, name)) = program.rsplit_once('/')
        && !name.is_empty()
    {
        *program = name.to_owned();
    }
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name
                .chars()
                .all(|character| character == '_' || character.is_ascii_alphanumeric())
    })
}

/// Whether the command's words are those of `pattern`, options between them passed over.
///
/// Which options of git and gh take a value is known; of another program's options each may.
pub fn begins_with(words: &[String], pattern: &[String]) -> bool {
    let (Some(program), Some(wanted)) = (words.first(), pattern.first()) else {
        return false;
    };
    if program != wanted {
        return false;
    }
    let value = match program.as_str() {
        "git" => Value::Known(&[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
            "--super-prefix",
            "--config-env",
        ]),
        "gh" => Value::Known(&["-R", "--repo", "--hostname"]),
        _ => Value::Perhaps,
    };
    rest(&words[1..], &pattern[1..], value)
}

#[derive(Clone, Copy)]
enum Value {
    Known(&'static [&'static str]),
    Perhaps,
}

/// Every place behind the words matched so far is carried along, so that many options cost no more than few.
fn rest(words: &[String], pattern: &[String], value: Value) -> bool {
    let mut places = vec![false; words.len() + 2];
    places[0] = true;
    for wanted in pattern {
        let mut next = vec![false; words.len() + 2];
        for (place, word) in words.iter().enumerate() {
            if !places[place] {
                continue;
            }
            if word == wanted {
                next[place + 1] = true;
            }
            if word.starts_with('-') {
                match value {
                    Value::Known(flags) if flags.contains(&word.as_str()) => places[place + 2] = true,
                    Value::Known(_) => places[place + 1] = true,
                    Value::Perhaps => (places[place + 1], places[place + 2]) = (true, true),
                }
            }
        }
        places = next;
    }
    places.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn runs(line: &str, pattern: &str) -> bool {
        commands(line)
            .iter()
            .any(|simple| begins_with(&simple.words, &words(pattern)))
    }

    #[test]
    fn git_status_is_found_however_it_is_written() {
        for line in [
            "git status",
            "git   status -sb",
            "git -C /some/where status",
            "git --no-pager -c color.ui=always status",
            "GIT_DIR=x LANG=C git status",
            "env -u A B=c git status",
            "sudo -u me /usr/bin/git status",
            "timeout -k 5 10 git status",
            "cd /x && git status",
            "git status | head -5",
            "true; git status",
            "cargo test\ngit status",
            "(cd x; git status)",
            "bash -lc 'cd x && git status'",
            "if git status; then echo yes; fi",
            "out=$(git status)",
            "git status 2>&1",
            "cat <<'A'\nA\ngit status",
            "git 'status'",
        ] {
            assert!(runs(line, "git status"), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_git_status_is_not() {
        for line in [
            "echo git status",
            "echo 'a; git status'",
            "echo \"x && git status\"",
            "git log status",
            "git -C status log",
            "git stash",
            "grep 'git status' notes.txt",
            "cat <<EOF\ngit status\nEOF",
            "# git status",
            "git status'",
            "gitstatus",
        ] {
            assert!(!runs(line, "git status"), "{line}");
        }
    }

    #[test]
    fn options_may_stand_between_the_words() {
        assert!(runs("gh -R me/it run view 12 --log", "gh run view"));
        assert!(runs("gh pr checks 4 --watch", "gh pr checks"));
        assert!(!runs("gh pr view 4", "gh pr checks"));
        assert!(runs("kubectl -n prod get pods", "kubectl get"));
        assert!(runs("git stash list", "git stash list"));
        assert!(!runs("git stash pop", "git stash list"));
    }

    #[test]
    fn many_options_are_no_burden() {
        let line = format!("tool {}end", "-x ".repeat(5_000));
        assert!(runs(&line, "tool end"));
        assert!(!runs(&line, "tool other"));
    }

    #[test]
    fn a_redirection_into_a_file_is_seen_and_is_no_word() {
        let all = commands("ls -l > out.txt; ls 2>&1; ls >/dev/null; ls 2> 'my err' x");
        let writes: Vec<_> = all.iter().map(|simple| simple.writes).collect();
        assert_eq!(writes, [true, false, false, true]);
        assert_eq!(all[0].words, ["ls", "-l"]);
        assert_eq!(all[3].words, ["ls", "x"]);
    }

    #[test]
    fn rubbish_is_no_fault() {
        for line in [
            "", "'", "\"", "\\", "<<", "<<<", ">", "((((", "$(", "a\\", "bash -c", "env", "timeout", "x <<E",
        ] {
            commands(line);
        }
    }
}
