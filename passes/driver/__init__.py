"""The base class and the registry of passes, textual pipelines, and pass managers of the bindings."""
