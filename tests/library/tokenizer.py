# RegexTokenizer of torchtext, made here and made again of its state.
def tokens(patterns: List[str], replacements: List[str], to_lower: bool, lines: List[str]):
    tokenizer = torch.classes.torchtext.RegexTokenizer(patterns, replacements, to_lower)
    state = tokenizer.__getstate__()
    assert state[0] == patterns and state[1] == replacements and state[2] == to_lower
    found: List[List[str]] = []
    for line in lines:
        found.append(tokenizer.forward(line))
    return found
