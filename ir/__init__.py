"""What passes and code generation share: emitting ops, the kernel around an op, addresses, mbarriers."""
