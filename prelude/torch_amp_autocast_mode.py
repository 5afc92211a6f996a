# What a `with` over it makes of operators is the pass autocast's business.


class autocast:
    def __init__(self, device_type: str, dtype: Optional[int] = None, enabled: bool = True,
                 cache_enabled: Optional[bool] = None) -> None:
        self._enabled = enabled
        self.device = device_type
        self.fast_dtype = dtype
        assert dtype is not None

    def __enter__(self):
        assert self.fast_dtype is not None
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        pass
