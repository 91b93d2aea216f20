"""A 3x3 convolution of images in NHWC: for each tap of the filters, TMA loads the pixels that it meets.

Pixels outside of the image are zeros.
"""

import mlir_smem.language as sl


@sl.kernel("(B,H,W,C), (3,3,C,N), (B,H,W,N)", warpgroups=3)
def convolution(X, F, Y, *, w=32, bn=128, bk=64, stages=4):
    """Compute Y (B, H, W, N) of images X (B, H, W, C) and filters F (3, 3, C, N), with a padding of 1.

    A CTA computes 128 pixels, `w` of each of 128 / w rows, and bn channels, of one image after the other.
    w is up to 64; W is a multiple of it, H of 128 / w, and N of bn.
    """
    images, H, W, C = X.shape
    rows = 128 // w
    H, W, N = sl.multiple_of((H, W, F.shape[3]), (rows, w, bn))
    x, y, z = sl.grid(sl.cdiv(N, bn), sl.cdiv(W, w), sl.cdiv(H, rows))
    column, row, channels = y * w, z * rows, sl.ds(x * bn, bn)
    a, b = sl.alloc((stages, 128, bk), X.dtype), sl.alloc((stages, bk, bn), F.dtype)
    pipe, blocks = sl.pipeline(stages, consumers=2), sl.cdiv(C, bk)
    steps = 9 * blocks
    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for image in range(images):
                for k in range(steps):
                    tap, c = k // blocks, sl.ds(k % blocks * bk, bk)
                    with pipe.producer(image * steps + k) as stage:
                        for i in range(rows):
                            pixels = sl.ds(column + tap % 3 - 1, w)
                            window = X[image, row + i + tap // 3 - 1, pixels, c]
                            sl.tma_load(window, a[stage][i * w : (i + 1) * w, :], stage)
                        sl.tma_load(F[tap // 3, tap % 3, c, channels], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            own = sl.ds(warpgroup * 64, 64)
            for image in range(images):
                acc = sl.zeros((64, bn), sl.f32)
                for k in range(steps):
                    index = image * steps + k
                    stage = pipe.wait(index)
                    acc = sl.mma(a[stage][own, :], b[stage], acc)
                    if k > 0:
                        pipe.release(index - 1)
                pipe.release(image * steps + steps - 1)
                half = sl.ds(row + warpgroup * (rows // 2), rows // 2)
                sl.store(acc, Y[image, half, sl.ds(column, w), channels])
