#!/bin/sh
# Someone with pictures: a class with its name, the most likely five, boxes of a detector as JSON, a mask as a picture.
. "$(dirname "$0")/begin.sh"
cat > picture.py <<'PY'
def one(digits: Tensor) -> Tensor:
    return (digits[3] * 255).to(torch.uint8)
def boxes(image: Tensor) -> Dict[str, Tensor]:
    found = (image[0].mean(0) > 0.5).nonzero()
    return {"boxes": torch.cat([found.amin(0), found.amax(0)]).unsqueeze(0), "scores": torch.ones(1)}
def mask(image: Tensor) -> Tensor:
    return ((image[0].mean(0, keepdim=True) > 0.5) * 255).to(torch.uint8)
PY
cat > classify.py <<'PY'
def forward(image: Tensor) -> Tensor:
    return torch.softmax(net.forward(image.mean(1, keepdim=True)), 1)
PY
printf 'zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n' > names
does wick run picture.py --method one "$examples/digits/digits.npy" -o nine.png
net=$source/tests/model/digits_cnn.pt
says 0 "9  nine" wick run classify.py --use net="$net" "image(nine.png, size=8)" --topk 5 --labels names
says 0 '"label": "nine"' wick run classify.py --use net="$net" "image(nine.png, size=8)" --topk 1 --labels names --json
does wick run picture.py --method boxes "image(nine.png, size=8)" -o boxes.json
says 0 '"boxes": [[0, ' cat boxes.json
does wick run picture.py --method mask "image(nine.png, size=64)" -o mask.png
says 0 "[ CPUByteType{1,64,64} ]" wick run picture.py --method mask "image(mask.png)"
