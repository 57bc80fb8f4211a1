"""``python -m cuda_opt`` prints which backends work on this machine, and why the others do not."""
from ._backends import report

print(report())
