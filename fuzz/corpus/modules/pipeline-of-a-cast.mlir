// pass: smem-to-nvvm
%r = builtin.unrealized_conversion_cast to !smem.pipeline
