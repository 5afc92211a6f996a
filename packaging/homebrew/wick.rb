# For Homebrew on Linux; untried. The archive is `git archive --prefix=wick-0.1.0/ HEAD | gzip`; its address goes in `url`,
# its sum in `sha256`: brew install --formula ./wick.rb
class Wick < Formula
  desc "TorchScript without libtorch: library and command"
  homepage "file:///home/linuxbrew/.linuxbrew/opt/wick/README.md"
  url "file:///tmp/wick-0.1.0.tar.gz"
  license "BSD-3-Clause"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "python@3.13" => :build
  depends_on "cjson"
  depends_on "fftw"
  depends_on "jpeg-turbo"
  depends_on "libsndfile"
  depends_on :linux
  depends_on "onednn"
  depends_on "openblas"
  depends_on "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DBUILD_TESTING=OFF", *std_cmake_args
    system "cmake", "--build", "build", "--target", "product"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"double.py").write "def double(x: int) -> int:\n    return 2 * x\n"
    assert_equal "42", shell_output("#{bin}/wick run double.py 21").strip
  end
end
