"""What runs passes: their base class, registry, pipelines as text, pass managers of the bindings."""
