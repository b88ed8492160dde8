//! The package: skills and playbook, the embedded plugin, install and uninstall, doctor, dream.

mod copies;
