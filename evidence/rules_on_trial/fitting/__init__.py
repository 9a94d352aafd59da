"""The study's runs as data, the fit of the surfaces, and the files of the package made from it."""
