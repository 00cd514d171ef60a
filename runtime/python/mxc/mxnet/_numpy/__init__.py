# SPDX-License-Identifier: Apache-2.0
"""What mx.np and mx.sym.np share: NumPy's functions, each written once over
operators, for arrays and for symbols."""
