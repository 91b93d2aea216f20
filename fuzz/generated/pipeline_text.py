"""The text of random pipelines."""

from mlir_smem.layout.tcgen05 import scaled_rows

from .pipelines import Pipeline

_DYNAMIC = -(1 << 63)

_STEP = "(!pipeline, index)"


def text_of(p: Pipeline) -> str:
    """The kernel, as MLIR with `smem` ops."""
    return _Text(p).module()


class _Text:
    """The sections of a kernel's text.

    Attributes:
        pipelines: the name of each pipeline, and the operands that it loads.
    """

    def __init__(self, p: Pipeline) -> None:
        self.p = p
        names = [["A", "B"]] if len(p.stages) == 1 else [["A"], ["B"]]
        if p.operands.factor:
            names = [[*pipeline, *(f"S{name}" for name in pipeline)] for pipeline in names]
        self.pipelines = {f"%pipeline{i}": pipeline for i, pipeline in enumerate(names)}

    def module(self) -> str:
        p = self.p
        aliases = "\n".join(f"!{name} = {type_}" for name, type_ in self._types().items())
        constants = "\n    ".join(
            f"%{name} = arith.constant {number} : index" for name, number in self._numbers().items()
        )
        names = [name for names in self.pipelines.values() for name in names]
        arguments = ", ".join(f'%{n}: !{n} {{smem.name = "{n}"}}' for n in (*sorted(names), "D"))
        x, y = p.cluster
        cluster = f", known_cluster_size = array<i32: {x}, {y}, 1>" if x * y > 1 else ""
        steps = "%steps = arith.addi %c0, %all_steps : index"
        if not p.static:
            steps = "%k = memref.dim %A, %c1 : !A\n    %steps = arith.ceildivui %k, %held : index"
        return f"""{aliases}
gpu.module @kernels {{
  gpu.func @product({arguments})
      kernel attributes {{known_block_size = array<i32: {128 * (1 + p.consumers)}, 1, 1>{cluster}}} {{
    {constants}
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %rank = gpu.cluster_block_id x
    %row = arith.muli %bx, %block_rows : index
    %first_tile = arith.muli %by, %tiles : index
    %half = arith.muli %rank, %n : index
    {steps}
    {self._shared()}
    "smem.warp_specialize"() ({{
      "smem.partition"() ({{
        {self._loaders()}
      }}) {{warpgroups = 1 : i32}} : () -> ()
      "smem.partition"() ({{
      ^bb0(%wg: index):
        {self._consumer()}
      }}) {{warpgroups = {p.consumers} : i32}} : () -> ()
    }}) : () -> ()
    gpu.return
  }}
}}
"""

    # -- declarations ------------------------------------------------------------------------------

    def _types(self) -> dict[str, str]:
        p, of_ab = self.p, self.p.operands
        m, n, k = p.extents
        held = k // of_ab.per_held
        if not p.static:
            m = n = held = "?"
        stages = dict(zip("AB", p.stages * 2 if len(p.stages) == 1 else p.stages, strict=True))
        a_order = "" if p.a_major == "k" else f", strided<[1, {m}]>"
        b_order = "" if p.b_major == "mn" else f", strided<[1, {held}]>"
        tiles = {"A": (p.cta_rows, p.depth), "B": (p.depth, p.n)}
        elements = dict.fromkeys(tiles, of_ab.element)
        types = {
            "A": f"memref<{m}x{held}x{of_ab.held}{a_order}>",
            "B": f"memref<{held}x{n}x{of_ab.held}{b_order}>",
            "D": f"memref<{m}x{n}x{p.result}>",
        }
        if of_ab.factor:
            for name, rows in (("SA", p.extents[0]), ("SB", p.extents[1])):
                blocks = f"{rows // 128}x{k // of_ab.block // 4}" if p.static else "?x?"
                types[name] = f"memref<{blocks}x32x4x4x{of_ab.factor}>"
                elements[name] = of_ab.factor
            tiles["SA"] = (p.cta_rows, p.factors)
            tiles["SB"] = (scaled_rows(p.columns), p.factors)
        for name, (rows, columns) in tiles.items():
            shape = f"{rows}x{columns}x{elements[name]}"
            types[f"{name}s"] = f"!smem.tile<tensor<{stages[name[-1]]}x{shape}>, #smem.auto>"
            types[f"{name}t"] = f"!smem.tile<tensor<{shape}>, #smem.auto>"
        if p.consumers > 1:
            for name in ("A", "SA") if of_ab.factor else ("A",):
                shape = f"{p.rows}x{tiles[name][1]}x{elements[name]}"
                types[f"{name}p"] = f"!smem.tile<tensor<{shape}>, #smem.auto>"
        count = p.buffers if p.store == "handed" else p.consumers
        columns = n if p.static else "?"
        fragment = f"!smem.fragment<tensor<{p.rows}x{{}}x{of_ab.accumulator}>, #smem.{{}}>"
        return types | {
            "pipeline": "!smem.pipeline",
            "running": fragment.format(p.columns, "in_flight"),
            "ready": fragment.format(p.columns, "accumulator"),
            "some": fragment.format(p.part, "accumulator"),
            "Ds": f"!smem.tile<tensor<{count}x{p.rows}x{p.part}x{p.result}>, #smem.auto>",
            "Dt": f"!smem.tile<tensor<{p.rows}x{p.part}x{p.result}>, #smem.auto>",
            "Dp": f"memref<{p.rows}x{p.part}x{p.result}, strided<[{columns}, 1], offset: ?>>",
        }

    def _numbers(self) -> dict[str, int]:
        p = self.p
        return {
            "c0": 0,
            "c1": 1,
            "block_rows": p.cta_rows,
            "rows": p.rows,
            "n": p.n,
            "columns": p.columns,
            "part": p.part,
            "parts": p.parts,
            "tiles": p.tiles,
            "all_steps": p.steps,
            "held": p.depth // p.operands.per_held,
            "factors": p.factors if p.operands.factor else 0,
            "consumers": p.consumers,
            "stores": p.stores,
            "buffers": p.buffers,
            "store_stages": p.store_stages,
        }

    def _shared(self) -> str:
        p = self.p
        lines = [
            f'%{name}s = "smem.alloc"() : () -> !{name}s'
            for names in self.pipelines.values()
            for name in names
        ]
        if p.store != "direct":
            lines.append('%Ds = "smem.alloc"() : () -> !Ds')
        for stages, (pipeline, names) in zip(p.stages, self.pipelines.items(), strict=True):
            producers = p.loaders if "A" in names and "B" in names else 1
            lines.append(_pipeline(pipeline, stages, producers, p.consumers))
        if p.store == "handed":
            lines.append(_pipeline("%stored", p.store_stages, 1, 1))
        return "\n    ".join(lines)

    # -- loading -----------------------------------------------------------------------------------

    def _loaders(self) -> str:
        p = self.p
        threads = ["AB"] if p.loaders == 1 else ["A", "B"]
        found = [self._loader(names, warp) for warp, names in enumerate(threads)]
        if p.store == "handed":
            found.append(self._sender(len(threads)))
        return "\n        ".join(found)

    def _loader(self, operands: str, warp: int) -> str:
        lines = []
        for pipeline, names in self.pipelines.items():
            own = [name for name in names if name[-1] in operands]
            if own:
                slot = f"%slot{pipeline[1:]}"
                lines.append(
                    f'{slot} = "smem.producer_acquire"({pipeline}, %step) : {_STEP} -> index'
                )
                for name in own:
                    lines += [
                        f'%{name}t = "smem.stage"(%{name}s, {slot}) : (!{name}s, index) -> !{name}t',
                        self._load(name, pipeline),
                    ]
                lines.append(f'"smem.producer_commit"({pipeline}, %step) : {_STEP} -> ()')
        body = "\n              ".join(lines)
        return f"""\
"smem.elect"() ({{
          scf.for %t = %c0 to %tiles step %c1 {{
            {_tile_of_d()}
            %own = arith.addi %column, %half : index
            scf.for %i = %c0 to %steps step %c1 {{
              %step = arith.addi %first, %i : index
              %at = arith.muli %i, %held : index
              %factor = arith.muli %i, %factors : index
              {body}
            }}
          }}
        }}) {{scope = "warpgroup", warp = {warp} : i32}} : () -> ()"""

    def _load(self, name: str, pipeline: str) -> str:
        p = self.p
        column = "%own" if p.pair else "%column"
        at = {
            "A": ("%row", "%at"),
            "B": ("%at", column),
            "SA": ("%row", "%factor"),
            "SB": ("%column", "%factor"),
        }[name]
        along_m, along_n = p.cluster
        shared = {"A": ("y", along_n), "B": ("x", along_m)}.get(name, ("", 1))
        multicast = f' {{multicast = "{shared[0]}"}}' if shared[1] > 1 and not p.pair else ""
        return (
            f'"smem.tma_load"(%{name}, %{name}t, {pipeline}, %step, {at[0]}, {at[1]}){multicast}'
            f" : (!{name}, !{name}t, !pipeline, index, index, index) -> ()"
        )

    def _sender(self, warp: int) -> str:
        """A thread that stores what warpgroups have written; it provides the buffers as a producer."""
        ahead = min(1, self.p.buffers - 1)
        free = "\n          ".join(
            f"%free{i} = arith.constant {i} : index\n          "
            f'"smem.producer_commit"(%stored, %free{i}) : {_STEP} -> ()'
            for i in range(self.p.buffers - ahead)
        )
        return f"""\
"smem.elect"() ({{
          {free}
          %behind = arith.constant {self.p.buffers - ahead} : index
          scf.for %t = %c0 to %tiles step %c1 {{
            {_tile_of_d()}
            scf.for %i = %c0 to %stores step %c1 {{
              %of = arith.divui %i, %parts : index
              %at = arith.remui %i, %parts : index
              %before = arith.muli %t, %stores : index
              %step = arith.addi %before, %i : index
              %own_row = arith.muli %of, %rows : index
              %r = arith.addi %row, %own_row : index
              %own_column = arith.muli %at, %part : index
              %c = arith.addi %column, %own_column : index
              %written = arith.addi %step, %store_stages : index
              %slot = "smem.producer_acquire"(%stored, %written) : {_STEP} -> index
              %buffer = arith.remui %step, %buffers : index
              %Dt = "smem.stage"(%Ds, %buffer) : (!Ds, index) -> !Dt
              "smem.tma_store"(%Dt, %D, %r, %c) : (!Dt, !D, index, index) -> ()
              "smem.tma_commit"() : () -> ()
              "smem.tma_wait"() {{pending = {ahead} : i32, read}} : () -> ()
              %next = arith.addi %step, %behind : index
              "smem.producer_commit"(%stored, %next) : {_STEP} -> ()
            }}
          }}
          "smem.tma_wait"() {{pending = 0 : i32, read}} : () -> ()
        }}) {{scope = "warpgroup", warp = {warp} : i32}} : () -> ()"""

    # -- multiplying -------------------------------------------------------------------------------

    def _consumer(self) -> str:
        loop = self._late() if self.p.late else self._early()
        return f"""\
%own_row = arith.muli %wg, %rows : index
        %r = arith.addi %row, %own_row : index
        scf.for %t = %c0 to %tiles step %c1 {{
          {_tile_of_d()}
          {loop}
          {self._store()}
        }}"""

    def _early(self) -> str:
        """Release a stage as soon as its mma has completed."""
        zero = "0" if self.p.operands.accumulator == "i32" else "0.0"
        of = self.p.operands.accumulator
        return f"""\
%zero = arith.constant {zero} : {of}
          %start = "smem.fill"(%zero) : ({of}) -> !running
          %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %start) -> (!running) {{
            %step = arith.addi %first, %i : index
            {self._multiplied("%d", "%step", "%acc")}
            %over = "smem.wait"(%d) {{pending = 0 : i32}} : (!running) -> !running
            {self._release("%step")}
            scf.yield %over : !running
          }}
          %done = "smem.wait"(%sum) {{pending = 0 : i32}} : (!running) -> !ready"""

    def _late(self) -> str:
        """Release a stage when the mma of the next one has started."""
        return f"""\
{self._multiplied("%d0", "%first")}
          %sum = scf.for %i = %c1 to %steps step %c1 iter_args(%acc = %d0) -> (!running) {{
            %step = arith.addi %first, %i : index
            {self._multiplied("%d", "%step", "%acc")}
            %next = "smem.wait"(%d) {{pending = 1 : i32}} : (!running) -> !running
            %before = arith.subi %step, %c1 : index
            {self._release("%before")}
            scf.yield %next : !running
          }}
          %done = "smem.wait"(%sum) {{pending = 0 : i32}} : (!running) -> !ready
          %end = arith.addi %first, %steps : index
          %last = arith.subi %end, %c1 : index
          {self._release("%last")}"""

    def _multiplied(self, result: str, step: str, accumulator: str = "") -> str:
        """The lines that wait for a stage and multiply it."""
        p, lines, operands = self.p, [], {}
        for pipeline, names in self.pipelines.items():
            slot = f"%slot{pipeline[1:]}{result[1:]}"
            lines.append(f'{slot} = "smem.consumer_wait"({pipeline}, {step}) : {_STEP} -> index')
            for name in names:
                tile = f"%{name}{result[1:]}"
                lines.append(
                    f'{tile} = "smem.stage"(%{name}s, {slot}) : (!{name}s, index) -> !{name}t'
                )
                operands[name] = (tile, f"!{name}t")
                if name[-1] == "A" and p.consumers > 1:
                    operands[name] = (f"{tile}p", f"!{name}p")
                    lines.append(
                        f'{tile}p = "smem.subtile"({tile}, %own_row) '
                        f"{{static_offsets = array<i64: {_DYNAMIC}, 0>, "
                        f"multiple_of = array<i64: {p.rows}>}} : (!{name}t, index) -> !{name}p"
                    )
        values = [operands[name] for name in ("A", "B", "SA", "SB") if name in operands]
        values += [(accumulator, "!running")] if accumulator else []
        op, pair = "mma_scaled" if p.operands.factor else "mma", " {pair}" if p.pair else ""
        lines.append(
            f'{result} = "smem.{op}"({", ".join(value for value, _ in values)}){pair}'
            f" : ({', '.join(type_ for _, type_ in values)}) -> !running"
        )
        return "\n            ".join(lines)

    def _release(self, step: str) -> str:
        lines = [
            f'"smem.consumer_release"({pipeline}, {step}) : {_STEP} -> ()'
            for pipeline in self.pipelines
        ]
        return "\n            ".join(lines)

    # -- storing -----------------------------------------------------------------------------------

    def _store(self) -> str:
        return "\n          ".join(self._stored_part(i) for i in range(self.p.parts))

    def _stored_part(self, i: int) -> str:
        """The lines that store some columns."""
        p = self.p
        lines = [
            f"%first{i} = arith.constant {i * p.part} : index",
            f"%c{i}of = arith.addi %column, %first{i} : index",
            f'%some{i} = "smem.columns"(%done) {{first = {i * p.part} : i64}} : (!ready) -> !some',
        ]
        if p.store == "direct":
            lines += [
                f"%Dp{i} = memref.subview %D[%r, %c{i}of] [{p.rows}, {p.part}] [1, 1] : !D to !Dp",
                f'"smem.store"(%some{i}, %Dp{i}) : (!some, !Dp) -> ()',
            ]
        elif p.store == "tma":
            lines += [
                f'%Dt{i} = "smem.stage"(%Ds, %wg) : (!Ds, index) -> !Dt',
                f'"smem.store"(%some{i}, %Dt{i}) : (!some, !Dt) -> ()',
                '"smem.fence"() : () -> ()',
                '"smem.warpgroup_barrier"() : () -> ()',
                '"smem.elect"() ({',
                f'"smem.tma_store"(%Dt{i}, %D, %r, %c{i}of) : (!Dt, !D, index, index) -> ()',
                '"smem.tma_commit"() : () -> ()',
                '"smem.tma_wait"() {pending = 0 : i32, read} : () -> ()',
                '}) {scope = "warpgroup"} : () -> ()',
                '"smem.warpgroup_barrier"() : () -> ()',
            ]
        else:
            lines += [
                f"%turns{i} = arith.muli %t, %consumers : index",
                f"%turn{i} = arith.addi %turns{i}, %wg : index",
                f"%parts{i} = arith.muli %turn{i}, %parts : index",
                f"%number{i} = arith.constant {i} : index",
                f"%store{i} = arith.addi %parts{i}, %number{i} : index",
                f'%given{i} = "smem.consumer_wait"(%stored, %store{i}) : {_STEP} -> index',
                f"%buffer{i} = arith.remui %store{i}, %buffers : index",
                f'%Dt{i} = "smem.stage"(%Ds, %buffer{i}) : (!Ds, index) -> !Dt',
                f'"smem.store"(%some{i}, %Dt{i}) : (!some, !Dt) -> ()',
                '"smem.fence"() : () -> ()',
                f'"smem.consumer_release"(%stored, %store{i}) : {_STEP} -> ()',
            ]
        return "\n          ".join(lines)


def _tile_of_d() -> str:
    """The lines that compute where the tile of D of an iteration begins, and its first pipeline index."""
    return """\
%tile = arith.addi %first_tile, %t : index
            %column = arith.muli %tile, %columns : index
            %first = arith.muli %t, %steps : index"""


def _pipeline(name: str, stages: int, producers: int, consumers: int) -> str:
    counts = (
        f"stages = {stages} : i32, producers = {producers} : i32, consumers = {consumers} : i32"
    )
    return f'{name} = "smem.create_pipeline"() {{{counts}}} : () -> !pipeline'
