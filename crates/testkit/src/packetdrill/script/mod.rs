//! The language of scripts: its grammar, its syntax tree and its expressions.

mod cursor;
pub mod expression;
mod packet_parser;
pub mod parser;
pub mod syntax;
