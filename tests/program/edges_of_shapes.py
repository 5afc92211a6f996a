def forward(x: Tensor, empty: Tensor) -> List[Tensor]:
    n = torch.zeros([5, 5, 0])
    line = torch.tensor([1, 1, 2, 2, 2, 1], dtype=torch.int32)
    return [torch.matmul(n, empty), torch.linalg.vander(line), torch.unique_consecutive(line, dim=0), x.stft(10, return_complex=True),
            torch.stft(x, 10, return_complex=True), torch.linspace(4.3, 50, 50, dtype=torch.int64), torch.linspace(-3, 30, 21, dtype=torch.int32)]
