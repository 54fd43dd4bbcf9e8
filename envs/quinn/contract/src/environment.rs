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
        Ok(value) => pick(&value, choices)
            .ok_or_else(|| Failure::new(format!("{name}: '{value}' is none of {}", list(choices)))),
    }
}

/// A whole number that may be absent.
pub fn count_or(name: &str, default: u64) -> Outcome<u64> {
    match env::var(name) {
        Err(_) => Ok(default),
        Ok(value) => value
            .parse()
            .map_err(|_| Failure::new(format!("{name}: '{value}' is not a whole number"))),
    }
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
        Ok(value) => Ok((variable, value)),
        Err(_) => Err(Failure::new(format!(
            "{variable} is not set; endpoint.yaml has its default"
        ))),
    }
}

/// The option `name` as a whole number from `low` to `high`.
pub fn number(name: &str, low: u64, high: u64) -> Outcome<u64> {
    let (variable, value) = option_text(name)?;
    value
        .parse()
        .ok()
        .filter(|number| (low..=high).contains(number))
        .ok_or_else(|| {
            Failure::new(format!(
                "{variable}: '{value}' is not a whole number from {low} to {high}"
            ))
        })
}

/// The option `name` as true or false.
pub fn switch(name: &str) -> Outcome<bool> {
    let (variable, value) = option_text(name)?;
    value
        .to_ascii_lowercase()
        .parse()
        .map_err(|_| Failure::new(format!("{variable}: '{value}' is neither true nor false")))
}

/// The option `name` as one of `choices`; another value is a mistake.
pub fn option_choice<T: Copy>(name: &str, choices: &[(&str, T)]) -> Outcome<T> {
    let (variable, value) = option_text(name)?;
    pick(&value, choices).ok_or_else(|| {
        Failure::new(format!(
            "{variable}: '{value}' is none of {}",
            list(choices)
        ))
    })
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
