"""Archives with a class of torchtext, from a module in which a class of TorchScript stands in for it: that is given torchtext's name, and its code
is taken out, as archives have none of C++ classes.
"""
import tempfile, zipfile


def save_with_native(module, name, path):
    name = name.encode()
    with tempfile.NamedTemporaryFile(suffix=".pt") as whole:
        module.save(whole.name)
        with zipfile.ZipFile(whole.name) as old, zipfile.ZipFile(path, "w") as new:
            for record in old.infolist():
                data = old.read(record.filename)
                if record.filename.endswith("code/__torch__.py"):
                    begin = data.index(b"class " + name)
                    end = data.find(b"\nclass ", begin)
                    data = data[:begin] + (data[end + 1:] if end > 0 else b"")
                    data = data.replace(b"__torch__." + name, b"__torch__.torch.classes.torchtext." + name)
                if record.filename.endswith("data.pkl"):
                    data = data.replace(b"c__torch__\n" + name + b"\n", b"c__torch__.torch.classes.torchtext\n" + name + b"\n")
                if not record.filename.endswith(".debug_pkl"):
                    new.writestr(record, data)
