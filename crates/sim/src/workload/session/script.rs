//! The meaning of the bytes of a session.
//!
//! The simulated TCP carries byte counts, not bytes. The client's requests are therefore written in
//! a script that both ends share. The client adds a message when it writes it. The server reads the
//! message when its last byte has been delivered, never before. The server adds where an answer
//! ends in its stream if the client cannot know that.

use super::numbered::Numbered;
use goodqueue_types::Span;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Position in the client's stream at which the request ends.
    pub ends_at: u64,
    /// Bytes of the answer.
    pub reply: u64,
    /// Time that the server takes before it answers.
    pub after: Span,
    /// True if the server closes the connection after the answer.
    pub closes: bool,
}

/// Messages that the server has not read yet, by connection.
#[derive(Clone, Debug, Default)]
pub struct Script {
    messages: Arc<Mutex<Numbered<VecDeque<Message>>>>,
    /// Positions in the server's endless streams at which answers end, by connection.
    answers: Arc<Mutex<Numbered<VecDeque<u64>>>>,
}

impl Script {
    fn messages(&self) -> MutexGuard<'_, Numbered<VecDeque<Message>>> {
        let messages = self.messages.lock();
        messages.unwrap_or_else(PoisonError::into_inner)
    }

    fn answers(&self) -> MutexGuard<'_, Numbered<VecDeque<u64>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an answer of the server that ends at this position in its endless stream.
    pub fn add_answer(&self, connection: u32, ends_at: u64) {
        let mut answers = self.answers();
        match answers.get_mut(connection) {
            Some(queue) => queue.push_back(ends_at),
            None => answers.insert(connection, VecDeque::from([ends_at])),
        }
    }

    /// Takes the next answer in an endless stream.
    pub fn take_answer(&self, connection: u32) -> Option<u64> {
        self.answers().get_mut(connection)?.pop_front()
    }

    /// Adds a message that the client has written.
    pub fn add(&self, connection: u32, message: Message) {
        let mut messages = self.messages();
        match messages.get_mut(connection) {
            Some(queue) => queue.push_back(message),
            None => messages.insert(connection, VecDeque::from([message])),
        }
    }

    /// Returns the bytes of memory for all messages.
    pub fn bytes(&self) -> usize {
        let messages = self.messages();
        let each = messages.values().map(VecDeque::capacity);
        messages.bytes() + each.sum::<usize>() * size_of::<Message>()
    }

    /// Takes the next message of a connection if its last byte is among the `delivered` bytes.
    pub fn take(&self, connection: u32, delivered: u64) -> Option<Message> {
        let mut messages = self.messages();
        let queue = messages.get_mut(connection)?;
        let message = *queue
            .front()
            .filter(|message| message.ends_at <= delivered)?;
        queue.pop_front();
        if queue.is_empty() {
            messages.remove(connection);
        }
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_once_when_its_last_byte_arrives() {
        let script = Script::default();
        let message = |ends_at| Message {
            ends_at,
            reply: 10,
            after: Span::ZERO,
            closes: false,
        };
        script.add(3, message(100));
        script.add(3, message(150));
        assert_eq!(script.take(3, 99), None);
        assert_eq!(script.take(4, 1000), None);
        assert_eq!(script.take(3, 149), Some(message(100)));
        assert_eq!(script.take(3, 149), None);
        assert_eq!(script.take(3, 150), Some(message(150)));
        assert!(
            script.messages().values().next().is_none(),
            "what is read takes no memory"
        );
    }
}
