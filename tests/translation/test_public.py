"""What `morphlm.translation` exports."""

from __future__ import annotations

import morphlm.translation


def test_every_public_name_can_be_imported() -> None:
    names = vars(morphlm.translation)["__all__"]
    assert {"TranslationSystem", "Decoder", "align", "evaluate", "build_system", "tune_system", "Rule"} <= set(names)
    for name in names:
        assert getattr(morphlm.translation, name) is not None
