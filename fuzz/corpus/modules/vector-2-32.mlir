  %a = vector.from_elements %a0, %a1 : vector<4294967296xi64>
