# inputs: 20000
def forward(rounds: int) -> int:
    seen: Dict[str, int] = {}
    for i in range(rounds):
        word = "w" + str(i % 97)
        if word in seen:
            seen[word] += 1
        else:
            seen[word] = len(word)
    return sum([seen[word] for word in seen])
