"""What runs passes: their base class, registry, pipelines, and pass managers of the bindings."""
