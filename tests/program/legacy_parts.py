def forward(parts: Dict[str, Tensor], row: str):
    plain = {name: part.clone() for name, part in parts.items()}
    parts[row].fill_(-1)
    return plain, parts["whole"]
