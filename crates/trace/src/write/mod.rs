//! Writers of traces: streaming, from the packet events of a run.
