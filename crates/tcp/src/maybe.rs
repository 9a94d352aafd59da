//! Values that may be unknown and take no more memory than those that are known.

use goodqueue_types::Span;

/// A duration that may be unknown. It takes 8 bytes, half of an `Option`, because every connection
/// has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaybeSpan(Span);

impl MaybeSpan {
    /// [`Span::MAX`], which no measurement gives, represents an unknown duration.
    pub const UNKNOWN: Self = Self(Span::MAX);

    /// Creates a known duration.
    #[inline]
    pub fn known(span: Span) -> Self {
        debug_assert_ne!(span, Span::MAX);
        Self(span)
    }

    /// Returns the duration if it is known.
    #[inline]
    pub fn get(self) -> Option<Span> {
        (self.0 != Span::MAX).then_some(self.0)
    }
}

impl From<Option<Span>> for MaybeSpan {
    #[inline]
    fn from(span: Option<Span>) -> Self {
        span.map_or(Self::UNKNOWN, Self::known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_kept_or_unknown() {
        for span in [None, Some(Span::ZERO), Some(Span(u64::MAX - 1))] {
            assert_eq!(MaybeSpan::from(span).get(), span);
        }
        assert_eq!(size_of::<MaybeSpan>(), 8);
    }
}
