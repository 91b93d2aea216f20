"""A grammar of modules that LLVM may reject: types, intrinsics, assembly, names, attributes."""

#: Expansions of `$NAME` in the texts below; an expansion may contain further names.
GRAMMAR: dict[str, tuple[str, ...]] = {
    "INT": (
        "i32", "i32", "i64", "i8", "i1", "i16", "i128", "i129", "i7", "i1000", "i8388608", "index",
        "i16777215", "i0", "si32",
    ),
    "FLOAT": (
        "f32", "f32", "f64", "f16", "bf16", "f80", "f128", "tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU",
        "f4E2M1FN", "f6E2M3FN",
    ),
    "SCALAR": ("$INT", "$FLOAT"),
    "COUNT": ("4", "4", "2", "1", "3", "8", "17", "1024", "65536", "1048576", "4294967296", "0", "[4]"),
    "VECTOR": ("vector<$COUNTx$SCALAR>", "vector<2x$COUNTx$SCALAR>", "vector<$SCALAR>"),
    "SPACE": (
        "", "", "<1>", "<3>", "<4>", "<5>", "<6>", "<7>", "<101>", "<2>", "<8>", "<99>", "<16777216>",
    ),
    "LLVM": (
        "!llvm.ptr$SPACE", "!llvm.ptr$SPACE", "!llvm.array<$COUNT x $SCALAR>",
        "!llvm.struct<($SCALAR, $TYPE)>", "!llvm.struct<packed ($SCALAR, $SCALAR)>",
        '!llvm.struct<"s", opaque>', '!llvm.struct<"r", (ptr, $SCALAR)>', "!llvm.struct<()>",
        '!llvm.target<"spirv.Image", i32, 0>', "!llvm.x86_amx", "!llvm.ppc_fp128", "!llvm.token",
        "!llvm.metadata", "!llvm.label", "!llvm.void", "!llvm.func<void ()>", "!llvm.func<i32 (...)>",
        '!llvm.struct<"x", (array<9999999999 x i8>)>', "!llvm.byte<8>",
    ),
    "TYPE": ("$SCALAR", "$SCALAR", "$SCALAR", "$VECTOR", "$LLVM", "complex<$FLOAT>", "tuple<$SCALAR>"),
    "FROM": ("llvm.load %p : !llvm.ptr ->", "llvm.load %p : !llvm.ptr ->", "llvm.mlir.poison :"),
    "OF_INT": ("%x$N = $FROM $INT\n   ",),
    "OF_FLOAT": ("%x$N = $FROM $FLOAT\n   ",),
    "OF_VECTOR": ("%x$N = $FROM $VECTOR\n   ",),
    "OF_TYPE": ("%x$N = $FROM $TYPE\n   ",),
    "OF_SCALAR": ("%x$N = $FROM $SCALAR\n   ",),
    "POINTER": ("%p$N = llvm.mlir.zero : !llvm.ptr$SPACE\n   ",),
    "ALIGNED": ("{alignment = $ALIGN : i64}",),
    "CODE": ('"$ASM", "$CONSTRAINTS"',),
    "INTEGER": (
        "arith.addi", "arith.divsi", "arith.remui", "arith.shli", "arith.muli", "arith.floordivsi",
        "arith.ceildivui", "llvm.sdiv", "llvm.mul",
    ),
    "FLOATING": (
        "arith.addf", "arith.divf", "arith.remf", "arith.maximumf", "math.powf", "math.atan2",
        "math.copysign", "arith.minnumf", "llvm.fdiv", "llvm.frem",
    ),
    "UNARY": (
        "math.exp", "math.erf", "math.sqrt", "math.rsqrt", "math.tanh", "math.log1p", "math.ctpop",
        "math.absf", "math.absi", "math.floor", "math.roundeven", "math.cbrt", "arith.negf",
        "math.sin", "math.acosh", "math.tan", "math.exp2", "math.cttz", "math.isnan", "math.sincos",
    ),
    "CAST": (
        "arith.extf", "arith.truncf", "arith.sitofp", "arith.fptosi", "arith.bitcast", "arith.trunci",
        "arith.extsi", "arith.index_cast", "llvm.bitcast", "llvm.inttoptr", "llvm.ptrtoint",
        "llvm.addrspacecast", "llvm.fptoui", "llvm.zext", "builtin.unrealized_conversion_cast",
    ),
    "INTRINSIC": (
        "llvm.x86.sse2.pause", "llvm.aarch64.isb", "llvm.amdgcn.s.barrier", "llvm.nvvm.barrier0",
        "llvm.nvvm.read.ptx.sreg.tid.x", "llvm.nvvm.barrier.cta.sync.all", "llvm.donothing", "llvm.trap",
        "llvm.debugtrap", "llvm.nothing", "llvm", "", "llvm.", "llvm.memcpy.p0.p0.i64", "llvm.va_start",
        "llvm.sqrt.f32", "llvm.sqrt.f80", "llvm.ctpop.i129", "llvm.fma.f128", "llvm.nvvm.wgmma.fence",
        "llvm.nvvm.ldmatrix", "llvm.gcroot", "llvm.stackmap", "llvm.experimental.gc.statepoint.p0",
        "llvm.eh.typeid.for", "llvm.coro.id", "llvm.returnaddress", "llvm.localescape", "llvm.assume",
        "llvm.thread.pointer", "llvm.read_register.i32", "llvm.ptrmask.p0.i64", "llvm.vscale.i32",
        "llvm.vp.add.v4i32", "llvm.masked.load.v4f32.p0", "llvm.nvvm.tcgen05.alloc.cg1", "foo",
        "llvm.bpf.load.byte", "llvm.wasm.throw", "llvm.spv.thread.id", "llvm.dx.thread.id", "llvm.nvvm.é",
    ),
    "ASM": (
        "mov.u32 $0, %tid.x;", "", "nop", "{", "}", "$9", "${0:x}", "$", "$$", "add.s32 $0, $1, $2;",
        "bra L;", ".entry x(){}", "trap;", "*/", "//", "\\00", "\\22", "bar.sync 0;", "$0 $1 $2 $3",
        "{ .reg .b32 t; mov.b32 t, 1; }", ".version 9.9", "ret;", "exit;", "\\0A.func f(){}",
    ),
    "CONSTRAINTS": (
        "=r", "=r,r", "r", "", "=l,l", "=f", "~{memory}", "=h,=r", "=q", "q", "=r,0", "=r,1", "=r,9", "i",
        "=m", "*m", "=*m,r", "X", "=&r,r,~{cc}", "=r,=r", "r,r,r", "z", "{rax}", "={eax}", "=r|l", ",",
        "=", "=r,,r", "!i", "n", "s", "p", "=d,d", "=c", "b", "=n", "l,~{dirflag}",
    ),
    "SYMBOL": (
        "kernel", "k", '"my-kernel"', '"my kernel"', '"é"', '""', "__nvvm_reflect", '"llvm.foo"',
        '"llvm.nvvm.barrier0"', '"%x"', '"a.b"', '"1a"', '"\\00"', '"\\0A"', "malloc",
        "vprintf", "__assertfail", "main", '"llvm.used"', '"llvm.global_ctors"', '"$"', '"@k"', "_Z1kv",
        '".entry"', "entry", "ret", '"k;"', '"\\22"', '"//"', "printf", "__nv_expf", "bar", '"\\01x"',
        "nvvm_x", "warp", '"x$y"', '"a$b"', "tid", '"%tid"', "f" * 3000,
    ),
    "LINKAGE": (
        "internal", "external", "private", "common", "appending", "extern_weak", "weak", "linkonce_odr",
        "available_externally",
    ),
    "ORDERING": ("monotonic", "acquire", "release", "acq_rel", "seq_cst", "unordered", "not_atomic"),
    "ALIGN": ("1", "4", "16", "1024", "0", "3", "4294967296", "-1", "9223372036854775807", "2147483648"),
    "NUMBER": ("0", "1", "-1", "7", "128", "1000000", "2147483647", "9223372036854775807", "255"),
}  # fmt: skip

#: Lines of a kernel: `$N` is unique to the line, and equal names of a line have equal expansions.
#: After `=>` is the type of %v, which is then stored.
LINES = (
    "%v$N = $FROM $TYPE",
    "%v$N = llvm.mlir.undef : $TYPE",
    "%v$N = llvm.mlir.zero : $TYPE",
    "%v$N = llvm.mlir.constant($NUMBER : $SCALAR) : $SCALAR",
    "%v$N = llvm.mlir.constant(1.5 : $FLOAT) : $FLOAT",
    "%v$N = arith.constant dense<1> : vector<$COUNTx$INT> => vector<$COUNTx$INT>",
    "%v$N = arith.constant $NUMBER : $INT => $INT",
    "$OF_INT %v$N = $INTEGER %x$N, %x$N : $INT => $INT",
    "$OF_FLOAT %v$N = $FLOATING %x$N, %x$N : $FLOAT => $FLOAT",
    "$OF_VECTOR %v$N = $FLOATING %x$N, %x$N : $VECTOR => $VECTOR",
    "$OF_TYPE %v$N = $UNARY %x$N : $TYPE => $TYPE",
    "$OF_SCALAR %v$N = $CAST %x$N : $SCALAR to $TYPE => $TYPE",
    'llvm.call_intrinsic "$INTRINSIC"() : () -> ()',
    '%v$N = llvm.call_intrinsic "$INTRINSIC"() : () -> $TYPE => $TYPE',
    '$OF_TYPE llvm.call_intrinsic "$INTRINSIC"(%x$N) : ($TYPE) -> ()',
    '$OF_TYPE %v$N = llvm.call_intrinsic "$INTRINSIC"(%x$N) : ($TYPE) -> $TYPE => $TYPE',
    "llvm.inline_asm has_side_effects $CODE : () -> ()",
    "%v$N = llvm.inline_asm $CODE : () -> $TYPE => $TYPE",
    "$OF_TYPE %v$N = llvm.inline_asm $CODE %x$N : ($TYPE) -> $SCALAR => $SCALAR",
    "$OF_TYPE llvm.inline_asm has_side_effects asm_dialect = intel $CODE %x$N : ($TYPE) -> ()",
    "%n$N = llvm.mlir.constant($NUMBER : i64) : i64\n"
    "    %v$N = llvm.alloca %n$N x $TYPE $ALIGNED : (i64) -> !llvm.ptr$SPACE",
    "$POINTER %v$N = llvm.load %p$N $ALIGNED : !llvm.ptr$SPACE -> $TYPE => $TYPE",
    "$POINTER %v$N = llvm.load volatile %p$N atomic $ORDERING $ALIGNED : !llvm.ptr$SPACE -> $SCALAR"
    " => $SCALAR",
    "$POINTER $OF_TYPE llvm.store %x$N, %p$N $ALIGNED : $TYPE, !llvm.ptr$SPACE",
    '$POINTER $OF_SCALAR %v$N = llvm.atomicrmw add %p$N, %x$N syncscope("$INTRINSIC") $ORDERING'
    " : !llvm.ptr$SPACE, $SCALAR",
    "$POINTER $OF_SCALAR %v$N = llvm.atomicrmw fadd %p$N, %x$N $ORDERING : !llvm.ptr$SPACE, $SCALAR",
    "$POINTER $OF_SCALAR %v$N = llvm.cmpxchg %p$N, %x$N, %x$N $ORDERING $ORDERING"
    " : !llvm.ptr$SPACE, $SCALAR",
    'llvm.fence syncscope("agent") $ORDERING',
    "$POINTER %v$N = llvm.getelementptr %p$N[$NUMBER, 0]"
    " : (!llvm.ptr$SPACE) -> !llvm.ptr$SPACE, $TYPE",
    "%v$N = llvm.va_arg %p : (!llvm.ptr) -> $TYPE => $TYPE",
    "llvm.intr.vastart %p : !llvm.ptr",
    "%s$N = llvm.intr.stacksave : !llvm.ptr  llvm.intr.stackrestore %s$N : !llvm.ptr",
    "llvm.call @$SYMBOL() : () -> ()",
    "llvm.call %p() : !llvm.ptr, () -> ()",
    '%v$N = nvvm.inline_ptx "$ASM" : () -> $SCALAR => $SCALAR',
    '$OF_SCALAR nvvm.inline_ptx "$ASM" ro(%x$N : $SCALAR)',
    "nvvm.barrier id = %c number_of_threads = %c",
    "$OF_INT %v$N = nvvm.shfl.sync bfly %c, %x$N, %c, %c : $INT -> $INT => $INT",
    "%v$N = nvvm.read.ptx.sreg.clock64 : $INT => $INT",
    "$OF_VECTOR %v$N = vector.reduction <add>, %x$N : $VECTOR into $SCALAR => $SCALAR",
    "%v$N = vector.broadcast %c : i32 to vector<$COUNTxi32> => vector<$COUNTxi32>",
    "%x$N = $FROM vector<$COUNTx$SCALAR>\n"
    "    %v$N = llvm.extractelement %x$N[%c : i32] : vector<$COUNTx$SCALAR> => $SCALAR",
    "%v$N = memref.alloca() : memref<$COUNTx$SCALAR>",
    "%v$N = memref.alloc() : memref<$COUNTx$SCALAR>",
    'gpu.printf "$ASM\\n", %c : i32',
    "%v$N = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>",
    'cf.assert %true, "$ASM"',
)

#: Ops next to the kernel.
GLOBALS = (
    "llvm.mlir.global $LINKAGE @$SYMBOL() {addr_space = 3 : i32} : !llvm.array<$NUMBER x $SCALAR>",
    "llvm.mlir.global $LINKAGE @$SYMBOL($NUMBER : $SCALAR) {alignment = $ALIGN : i64} : $SCALAR",
    'llvm.mlir.global $LINKAGE constant @$SYMBOL("$ASM") {section = "$INTRINSIC"}'
    " : !llvm.array<$COUNT x i8>",
    "llvm.func @$SYMBOL(...) -> $TYPE",
    "llvm.func $LINKAGE @$SYMBOL($TYPE, $TYPE)",
    'llvm.func @$SYMBOL() attributes {passthrough = ["$INTRINSIC", ["target-cpu", "$ASM"]]}',
    "memref.global @$SYMBOL : memref<$COUNTx$SCALAR, #gpu.address_space<workgroup>> {alignment = $ALIGN}",
    "gpu.func @$SYMBOL(%x: $TYPE) { gpu.return }",
    "gpu.func @$SYMBOL() kernel attributes {known_block_size = array<i32: 1, 1, 1>} { gpu.return }",
    "llvm.func @$SYMBOL() { llvm.call @$SYMBOL() : () -> ()  llvm.return }",
    "llvm.mlir.alias external @$SYMBOL : i32 {"
    " %a = llvm.mlir.zero : !llvm.ptr  llvm.return %a : !llvm.ptr }",
    'llvm.comdat @$SYMBOL { llvm.comdat_selector @x any }',
    "llvm.mlir.global_ctors ctors = [@$SYMBOL], priorities = [0 : i32], data = [#llvm.zero]",
    'llvm.module_flags [#llvm.mlir.module_flag<error, "$INTRINSIC", $NUMBER : i32>]',
    'module attributes {llvm.data_layout = "$ASM"} {}',
)  # fmt: skip

#: Attributes of the kernel; the first is the usual one.
ATTRIBUTES = (
    "known_block_size = array<i32: 128, 1, 1>",
    "known_block_size = array<i32: $NUMBER, 1, 1>",
    "known_grid_size = array<i32: $NUMBER, 1, 1>",
    "known_cluster_size = array<i32: $NUMBER, 2, 1>",
    "nvvm.minctasm = $NUMBER : i32",
    "nvvm.maxnreg = $NUMBER : i32",
    "nvvm.maxntid = array<i32: $NUMBER>",
    "nvvm.cluster_dim = array<i32: $NUMBER, 1, 1>",
    "nvvm.blocksareclusters",
    'passthrough = ["$INTRINSIC"]',
    'llvm.target_features = "$ASM"',
    "nvvm.kernel = $NUMBER",
    "frame_pointer = #llvm.framePointerKind<all>",
    "personality = @$SYMBOL",
    "memory_effects = #llvm.memory_effects<other = none>",
)
