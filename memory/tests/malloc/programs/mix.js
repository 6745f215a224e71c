// mix.js - objects, buffers, JSON, hashes and worker threads of one node.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const { createHash } = require("crypto");
const zlib = require("zlib");

function work(seed) {
	const map = new Map();
	let buffers = [];
	for (let i = 0; i < 20000; i++) {
		map.set("k" + (i * seed) % 7919, { i, text: "t".repeat(i % 100), list: [i, i + 1] });
		buffers.push(Buffer.alloc(i % 5000, i % 256));
		if (buffers.length > 500) buffers = buffers.slice(250);
	}
	const text = JSON.stringify([...map.entries()].sort((a, b) => a[1].i - b[1].i));
	const packed = zlib.deflateSync(text);
	const back = zlib.inflateSync(packed).toString();
	const sum = createHash("sha256").update(Buffer.concat(buffers)).update(back).digest("hex");
	return `${JSON.parse(back).length} ${sum}`;
}

if (!isMainThread) {
	parentPort.postMessage(work(workerData));
} else {
	const done = [31, 37, 41].map((seed) => new Promise((resolve, reject) => {
		const worker = new Worker(__filename, { workerData: seed });
		worker.on("message", resolve).on("error", reject);
	}));
	Promise.all(done).then((lines) => console.log([work(29), ...lines].join("\n")));
}
