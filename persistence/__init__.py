"""Everything that is stored: plain functions over a connection, with their SQL beside them; no rules of the service.

A row that is absent is returned as `None`. Nothing here imports from `actors` or `routes`.

A row is a frozen `msgspec.Struct`, because one is made for each row that is read: it takes 0.1 µs, where a frozen
dataclass takes 1 to 3, and the garbage collector passes over it unless a field holds a container. Copies with other
values are made by `msgspec.structs.replace`; `dataclasses.replace` refuses structs, though type checkers accept it.
"""

from compiled.finding import use

use()
