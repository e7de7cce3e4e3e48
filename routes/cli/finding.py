"""What `partyline doctor` says of one thing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Args:
        about: what was checked.
        says: what was found.
        cure: what to do; None if all is well.
        grave: whether the cure is necessary, because a start fails or something is unsafe without it; False makes it
            advice. Without meaning if there is no cure.
    """

    about: str
    says: str
    cure: str | None = None
    grave: bool = True

    @property
    def ill(self) -> bool:
        """Whether something has to be done."""
        return self.cure is not None and self.grave

    def __str__(self) -> str:
        if self.cure is None:
            return f"ok      {self.about}: {self.says}"
        mark = "WRONG " if self.grave else "advice"
        return f"{mark}  {self.about}: {self.says}\n        → {self.cure}"
