// Its worker needs some time to end.
import { createServer } from 'node:http'

createServer((_, response) => response.end('"slow"')).listen(3000)
process.on('exit', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500))
