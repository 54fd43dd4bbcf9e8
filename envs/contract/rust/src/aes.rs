//! What cryptographic libraries must not use of the processor.

use crate::failure::{Failure, Outcome};

/// The variable by which BoringSSL and its descendants learn on x86 what to overlook. On ARM not all of
/// them read one.
pub const MASK: &str = "OPENSSL_ia32cap";

/// `OPENSSL_ia32cap(3)`: AES-NI and PCLMULQDQ are bits 57 and 33 of the first word, their wide forms VAES
/// and VPCLMULQDQ bits 41 and 42 of the second.
const AES: [u64; 2] = [0x0200_0002_0000_0000, 0x0600_0000_0000];

/// The mask that hides AES and what `mask` hides already.
pub fn without_aes(mask: &str) -> Outcome<String> {
    let mut words: Vec<String> = mask.split(':').map(str::to_owned).collect();
    words.resize(words.len().max(AES.len()), String::new());
    for (word, bits) in words.iter_mut().zip(AES) {
        let with = hidden(word, bits);
        *word = with.ok_or_else(|| Failure::new(format!("{MASK}: '{mask}' is no mask")))?;
    }
    Ok(words.join(":"))
}

/// A word with further bits hidden: after ~ it has those that are, else those that are not.
fn hidden(word: &str, bits: u64) -> Option<String> {
    if word.is_empty() {
        return Some(format!("~{bits:#x}"));
    }
    Some(match word.strip_prefix('~') {
        Some(hidden) => format!("~{:#x}", number(hidden)? | bits),
        None => format!("{:#x}", number(word)? & !bits),
    })
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
