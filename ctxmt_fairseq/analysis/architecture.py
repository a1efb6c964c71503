"""The name of a model's architecture."""

from typing import Any, Optional

from fairseq.models import MODEL_REGISTRY


def architecture(model: Any, option: Optional[str] = None) -> str:
    """The name under which a model's class is registered, and the value of an option that it may have."""
    name = next(name for name, registered in MODEL_REGISTRY.items() if registered is type(model))
    value = getattr(getattr(model, "args", None), option.replace("-", "_"), None) if option else None
    return name if value is None else f"{name} with --{option} {value}"
