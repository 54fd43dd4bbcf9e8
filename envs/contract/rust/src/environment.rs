//! Variables of the environment, checked and typed.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;

use crate::failure::{Failure, Outcome};

/// A variable that must be set.
pub fn text(name: &str) -> Outcome<String> {
    env::var(name)
        .ok()
        .filter(|value| !value.is_empty())
        .ok_or_else(|| Failure::new(format!("{name} is not set (docs/formats.md, section 2)")))
}

/// A path that may be absent.
pub fn optional_path(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// A variable that must be set, a whole number.
pub fn count(name: &str, low: u64, high: u64) -> Outcome<u64> {
    whole_number(name, &text(name)?, low, high)
}

/// A folder that must be there.
pub fn folder(name: &str) -> Outcome<PathBuf> {
    let path = PathBuf::from(text(name)?);
    if path.is_dir() {
        return Ok(path);
    }
    let path = path.display();
    Err(Failure::new(format!("{name}: '{path}' is not a folder")))
}

/// A variable that must be set and be `what`.
pub fn parsed<T: FromStr>(name: &str, what: &str) -> Outcome<T> {
    let value = text(name)?;
    value
        .parse()
        .map_err(|_| Failure::new(format!("{name}: '{value}' is not {what}")))
}

/// A variable with a default, which must be one of `choices`.
pub fn choice_or<T: Copy>(name: &str, default: T, choices: &[(&str, T)]) -> Outcome<T> {
    match env::var(name) {
        Err(_) => Ok(default),
        Ok(value) => pick(&value, choices).ok_or_else(|| unknown_word(name, &value, choices)),
    }
}

/// A whole number up to `high` that may be absent.
pub fn count_or(name: &str, default: u64, high: u64) -> Outcome<u64> {
    match env::var(name) {
        Err(_) => Ok(default),
        Ok(value) => whole_number(name, &value, 0, high),
    }
}

fn unknown_word<T>(name: &str, value: &str, choices: &[(&str, T)]) -> Failure {
    Failure::NotSupported(format!("{name}={value}; it can do {}", list(choices)))
}

fn whole_number(name: &str, value: &str, low: u64, high: u64) -> Outcome<u64> {
    value
        .parse()
        .ok()
        .filter(|number| (low..=high).contains(number))
        .ok_or_else(|| {
            Failure::new(format!(
                "{name}: '{value}' is not a whole number from {low} to {high}"
            ))
        })
}

/// A variable whose other values exist but are not supported by `library`.
pub fn choice<T: Copy>(library: &str, name: &str, choices: &[(&str, T)]) -> Outcome<T> {
    let value = text(name)?;
    pick(&value, choices).ok_or_else(|| {
        Failure::NotSupported(format!("{name}={value}; {library} has {}", list(choices)))
    })
}

fn option_text(name: &str) -> Outcome<(String, String)> {
    let variable = format!("OPTION_{name}");
    match env::var(&variable) {
        Ok(value) if !value.is_empty() => Ok((variable, value)),
        _ => Err(Failure::new(format!(
            "{variable} is not set; endpoint.yaml has its default"
        ))),
    }
}

/// The option `name` as a whole number from `low` to `high`.
pub fn number(name: &str, low: u64, high: u64) -> Outcome<u64> {
    let (variable, value) = option_text(name)?;
    whole_number(&variable, &value, low, high)
}

/// The option `name` as true or false.
pub fn switch(name: &str) -> Outcome<bool> {
    let (variable, value) = option_text(name)?;
    value
        .to_ascii_lowercase()
        .parse()
        .map_err(|_| Failure::new(format!("{variable}: '{value}' is neither true nor false")))
}

/// The option `name` as one of `choices`.
pub fn option_choice<T: Copy>(name: &str, choices: &[(&str, T)]) -> Outcome<T> {
    let (variable, value) = option_text(name)?;
    pick(&value, choices).ok_or_else(|| unknown_word(&variable, &value, choices))
}

/// Fail for an option that is none of `known`, by the names of endpoint.yaml.
pub fn check_options(known: &[&[&str]]) -> Outcome<()> {
    for (variable, _) in env::vars_os() {
        let variable = variable.to_string_lossy();
        let Some(name) = variable.strip_prefix("OPTION_") else {
            continue;
        };
        if !known
            .iter()
            .any(|part| part.contains(&name.to_ascii_lowercase().as_str()))
        {
            return Err(Failure::NotSupported(format!(
                "{variable}; there is no such option"
            )));
        }
    }
    Ok(())
}

/// The option `name` as one of `choices`; other values exist but `library` does not have them.
pub fn option_ability<T: Copy>(library: &str, name: &str, choices: &[(&str, T)]) -> Outcome<T> {
    choice(library, &format!("OPTION_{name}"), choices)
}

fn pick<T: Copy>(value: &str, choices: &[(&str, T)]) -> Option<T> {
    choices
        .iter()
        .find(|(name, _)| *name == value)
        .map(|(_, picked)| *picked)
}

fn list<T>(choices: &[(&str, T)]) -> String {
    choices
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}
