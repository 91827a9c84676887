"""`dragoman evaluate`: scores of translations, with signatures and confidence intervals."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
