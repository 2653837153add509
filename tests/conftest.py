"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("anypag", deadline=None)  # the first call of a kernel may compile it
settings.load_profile("anypag")
