"""The hybrid engine compared with the packet engine on drawn links (docs/hybrid.md)."""
