class autocast:
    def __init__(self, enabled: bool = True, dtype: int = torch.bfloat16, cache_enabled: bool = True) -> None:
        self._enabled = enabled
        self.device = 'cpu'
        self.fast_dtype = dtype

    def __enter__(self):
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        pass
