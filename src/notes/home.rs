//! The homes of notes and their folders under the root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::notes::Identity;
use crate::notes::address::{Address, slugify};
use crate::notes::project;

/// One home. `Session` and `Project` are those of the identity at hand; nobody else's can be named.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Home {
    /// This conversation.
    Session,
    /// Whoever works on the project.
    Project,
    /// The agent of this slug.
    Agent(String),
    /// The model of this slug.
    Model(String),
    /// The person.
    Human,
}

/// Where a home is.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its folder.
    pub folder: PathBuf,
    /// The folder below the root, with `/` and without links.
    pub key: String,
}

/// The homes as one identity sees them.
#[derive(Debug, Clone)]
pub struct Homes {
    root: PathBuf,
    session: Result<String, String>,
    project: Result<project::Project, String>,
    agent: String,
    model: String,
    state_dir: Option<PathBuf>,
}

impl Homes {
    /// Works out the folders for an identity.
    pub fn new(identity: Identity) -> Self {
        let or_claude = |name: Option<&str>| match name.map(str::trim) {
            None | Some("") => "claude".to_owned(),
            Some(name) => slugify(name),
        };
        Self {
            session: session_folder(&identity.session_id),
            project: project::find(&identity.cwd, identity.project.as_deref()),
            agent: or_claude(Some(&identity.agent)),
            model: or_claude(identity.model.as_deref()),
            root: identity.root,
            state_dir: identity.state_dir,
        }
    }

    /// The folder of all notes.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where side files of these notes go: a folder of its own for each root.
    pub fn side_folder(&self) -> Option<PathBuf> {
        let root = fs::canonicalize(&self.root).ok()?;
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let name: String = hash.chars().take(24).collect();
        Some(self.state_dir.as_ref()?.join("notes").join(name))
    }

    /// The slug of the agent whose notes are `@self/`.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The slug of the model whose notes are `@model/`.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The project at hand, or why it has no home.
    pub fn project(&self) -> Result<&project::Project, &str> {
        self.project.as_ref().map_err(String::as_str)
    }

    /// Whether there is a conversation whose notes can be asked for.
    pub fn has_session(&self) -> bool {
        self.session.is_ok()
    }

    /// The folder of a home below the root, with `/`, or why there is none.
    pub fn relative_folder(&self, home: &Home) -> Result<String, String> {
        Ok(match home {
            Home::Session => format!("pi/session/{}", self.session.clone()?),
            Home::Project => format!("project/{}", self.project.as_ref().map_err(Clone::clone)?.key),
            Home::Human => "human".to_owned(),
            Home::Agent(slug) => format!("agents/{slug}"),
            Home::Model(slug) => format!("models/{slug}"),
        })
    }

    /// The folder of a home, or why there is none.
    ///
    /// # Errors
    /// When the identity has no such home, or when the folder is a symbolic link that leads out of the root.
    pub fn folder(&self, home: &Home) -> Result<PathBuf, String> {
        self.place(home).map(|place| place.folder)
    }

    /// The folder of a home with the name that locks and versions know it by.
    ///
    /// # Errors
    /// As [`Homes::folder`].
    pub fn place(&self, home: &Home) -> Result<Place, String> {
        let relative = self.relative_folder(home)?;
        let mut folder = self.root.clone();
        let mut linked = false;
        for component in relative.split('/') {
            folder.push(component);
            match fs::symlink_metadata(&folder) {
                Ok(metadata) if metadata.is_symlink() => {
                    folder = self.inside(&folder)?;
                    linked = true;
                }
                Ok(metadata) if !metadata.is_dir() => {
                    return Err(format!("{} is a file where a folder should be", folder.display()));
                }
                _ => {}
            }
        }
        if !linked {
            return Ok(Place { folder, key: relative });
        }
        // Two names of one folder must share their locks.
        let root = fs::canonicalize(&self.root).map_err(|error| format!("{}: {error}", self.root.display()))?;
        let key = folder
            .strip_prefix(&root)
            .ok()
            .and_then(Path::to_str)
            .map(str::to_owned);
        let key = key.ok_or_else(|| format!("{} is not in the notes folder", folder.display()))?;
        Ok(Place { folder, key })
    }

    /// A linked home folder is followed only while it stays under the root.
    fn inside(&self, link: &Path) -> Result<PathBuf, String> {
        let shown = link.display();
        let target = fs::canonicalize(link).map_err(|error| format!("{shown} is a symbolic link: {error}"))?;
        let root = fs::canonicalize(&self.root).map_err(|error| format!("{}: {error}", self.root.display()))?;
        if target.starts_with(&root) {
            return Ok(target);
        }
        Err(format!(
            "{shown} is a symbolic link that leads out of the notes folder, so it is not followed"
        ))
    }

    /// The homes this identity writes to, in the order they are shown.
    pub fn own(&self) -> Vec<Home> {
        vec![
            Home::Session,
            Home::Project,
            Home::Agent(self.agent.clone()),
            Home::Model(self.model.clone()),
            Home::Human,
        ]
    }

    /// All homes that can be read: the own ones, then those of other agents and models that exist. The second part
    /// is why the folder of the others could not be listed, by its address.
    pub fn all(&self) -> (Vec<Home>, Vec<(String, String)>) {
        let mut homes = self.own();
        let mut unavailable = Vec::new();
        for (folder, home) in [("agents", Home::Agent as fn(String) -> Home), ("models", Home::Model)] {
            match self.slugs(folder) {
                Ok(slugs) => homes.extend(slugs.into_iter().map(home)),
                Err(error) => unavailable.push((format!("@{folder}/"), error.to_string())),
            }
        }
        (homes, unavailable)
    }

    fn slugs(&self, folder: &str) -> io::Result<Vec<String>> {
        let own = if folder == "agents" { &self.agent } else { &self.model };
        let mut parent = self.root.join(folder);
        if fs::symlink_metadata(&parent).is_ok_and(|metadata| metadata.is_symlink()) {
            parent = self.inside(&parent).map_err(io::Error::other)?;
        }
        let entries = match fs::read_dir(parent) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut slugs = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let is_home = entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
            if is_home && name != *own && Address::of_file(&Home::Human, &format!("{name}/a.md")).is_some() {
                slugs.push(name);
            }
        }
        slugs.sort();
        Ok(slugs)
    }

    /// Whether this identity may write there: everywhere but to other agents' and models' notes.
    pub fn writable(&self, home: &Home) -> bool {
        match home {
            Home::Session | Home::Project | Home::Human => true,
            Home::Agent(slug) => *slug == self.agent,
            Home::Model(slug) => *slug == self.model,
        }
    }

    /// What addresses in this home begin with: nothing for the session, else e.g. `@project/`.
    pub fn prefix(&self, home: &Home) -> String {
        match home {
            Home::Session => String::new(),
            Home::Project => "@project/".to_owned(),
            Home::Human => "@human/".to_owned(),
            Home::Agent(slug) if *slug == self.agent => "@self/".to_owned(),
            Home::Agent(slug) => format!("@agents/{slug}/"),
            Home::Model(slug) if *slug == self.model => "@model/".to_owned(),
            Home::Model(slug) => format!("@models/{slug}/"),
        }
    }

    /// The explicit prefix of an own agent or model home (`@agents/claude/`), which patterns accept as well.
    pub fn explicit_prefix(&self, home: &Home) -> Option<String> {
        match home {
            Home::Agent(slug) if *slug == self.agent => Some(format!("@agents/{slug}/")),
            Home::Model(slug) if *slug == self.model => Some(format!("@models/{slug}/")),
            _ => None,
        }
    }

    /// An address as results show it.
    pub fn render(&self, address: &Address) -> String {
        self.prefix(address.home()) + address.path()
    }
}

fn session_folder(id: &str) -> Result<String, String> {
    if id.is_empty() {
        return Err("a path without `@` belongs to a conversation, and none is known here".to_owned());
    }
    let legal = Address::of_file(&Home::Human, &format!("{id}/a.md")).is_some() && !id.contains('/') && id.len() <= 255;
    if legal {
        Ok(id.to_owned())
    } else {
        Err("the conversation's id cannot be a folder name".to_owned())
    }
}
