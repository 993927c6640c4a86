// Creates WebAssembly code that V8 would collect, and makes V8 report that: at once if it runs by
// itself, for each request if it is a service.
import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'

for (const flag of ['--trace-wasm-code-gc', '--stress-wasm-code-gc', '--wasm-wrapper-tiering-budget=10'])
  setFlagsFromString(flag)

const section = (id, ...bytes) => [id, bytes.length, ...bytes]
/** `go(n)` calls the imported `e.f(n)`. */
const bytes = new Uint8Array([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, 1, 0x60, 1, 0x7f, 0),
  ...section(2, 1, 1, 0x65, 1, 0x66, 0, 0),
  ...section(3, 1, 0),
  ...section(7, 1, 2, 0x67, 0x6f, 0, 1),
  ...section(10, 1, 6, 0, 0x20, 0, 0x10, 0, 0x0b),
])

function make() {
  for (let made = 0; made < 20; made++) {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { e: { f: () => {} } })
    for (let call = 0; call < 100; call++) exports.go(call)
  }
  return 'made'
}

if (process.env.PORT === undefined) createServer((_, response) => response.end(make())).listen(3000)
else make()
