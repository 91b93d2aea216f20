"""What calls a kernel on arrays: it is generated and compiled when needed, and launched."""
