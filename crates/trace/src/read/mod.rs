//! Readers of captures and traces: streaming, bounded in memory, never trusting what they read.
