def forward() -> List[int]:
    return [hash(0), hash(-5), hash(True), hash(0.0), hash(1.5), hash(float('inf')), hash(''), hash('hello'), hash('123456789'),
            hash((1, 'a', 2.0)), hash((7, (8, True))), hash(torch.device('cpu')), hash(torch.device('cuda:1'))]
