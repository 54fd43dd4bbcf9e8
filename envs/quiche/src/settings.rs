//! What both roles are told: the settings of every library and those of quiche alone.

use std::ops::Deref;

use contract::environment::{option_choice, switch};
use contract::settings::{self, Abilities, Cipher, OnMove, Role, Scheduling};
use contract::Outcome;

/// What these programs can do. The library takes `bbr` as another name of `bbr2`; here it is
/// refused, since an arm named bbr would claim version 1.
const ABILITIES: Abilities = Abilities {
    library: "quiche",
    congestion_controls: &["cubic", "reno", "bbr2"],
    groups: &["X25519", "P-256", "P-384", "X25519MLKEM768"],
    ciphers: &[
        ("default", Cipher::Default),
        ("aes128", Cipher::Aes128),
        ("chacha20", Cipher::Chacha20),
    ],
    on_move: &[OnMove::Reconnect, OnMove::Resume, OnMove::Migrate],
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Packets leave when the library says so. Its BBR2 spreads them, its CUBIC and Reno never do.
    Library,
    /// As `Library`; CUBIC and Reno are spread over the round trip by RFC 9002, section 7.7.
    Rfc9002,
    Off,
}

/// What both roles are told.
#[derive(Clone, Debug)]
pub struct Settings {
    common: settings::Settings,
    pub hystart: bool,
    pub pacing: Pacing,
    pub scheduling: Scheduling,
}

impl Settings {
    /// Read and check the environment; errors as [`settings::Settings::from_environment`] has them.
    pub fn from_environment(role: Role) -> Outcome<Self> {
        Ok(Self {
            common: settings::Settings::from_environment(&ABILITIES, role)?,
            hystart: switch("HYSTART")?,
            pacing: option_choice(
                "PACING",
                &[
                    ("library", Pacing::Library),
                    ("rfc9002", Pacing::Rfc9002),
                    ("off", Pacing::Off),
                ],
            )?,
            scheduling: Scheduling::from_environment()?,
        })
    }
}

impl Deref for Settings {
    type Target = settings::Settings;

    fn deref(&self) -> &Self::Target {
        &self.common
    }
}
