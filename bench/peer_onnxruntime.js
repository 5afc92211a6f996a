// Times ONNX Runtime as `wick bench --json` times wick: one JSON object with every call.
// usage: node peer_onnxruntime.js MODEL.onnx THREADS CALLS randn(SIZES)   (NODE_PATH: where onnxruntime-node is)
const ort = require('onnxruntime-node');

async function main() {
  const [path, threads, calls, input] = process.argv.slice(2);
  const sizes = input.replace(/^randn\(|\)$/g, '').split(',').map(Number);
  const numbers = Float32Array.from({length: sizes.reduce((a, b) => a * b)}, () => Math.random() * 2 - 1);
  let start = performance.now();
  const options = {intraOpNumThreads: Number(threads), graphOptimizationLevel: 'all'};
  const session = await ort.InferenceSession.create(path, options);
  const load = performance.now() - start, times = [];
  const feeds = {[session.inputNames[0]]: new ort.Tensor('float32', numbers, sizes)};
  for (let i = 0; i < Number(calls); i++) {
    start = performance.now();
    await session.run(feeds);
    times.push(performance.now() - start);
  }
  console.log(JSON.stringify(
      {load_ms: load, calls_ms: times, peak_rss_mb: process.resourceUsage().maxRSS / 1024}));
}
main();
