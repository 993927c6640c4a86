import { setFlagsFromString } from 'node:v8'

/**
 * What V8 is told before it makes a thread, each unless somebody has said something else. The young generation
 * (docs/decisions/young-generation.md):
 *
 * - begins with 4 MB instead of 1. It grows with what survives, and with small requests little does, so that it stays small
 *   and each collection finds requests still in flight: a typed service at the gateway answers 5 to 8 % more.
 * - ends with 16 MB, as a main thread's does, instead of 32: what an app loads at its start makes it grow. A typed service
 *   answers 4 % more from 16; from 8 a request that calls four others, of which more are in flight, 7 % less.
 * - is where everything is born. Once it has reached its end, V8 takes it that what one place makes lives long if it once did
 *   (at start: modules, schemas) and makes it in the old generation from then on, and garbage of requests is left to full
 *   collections: 2 to 6 %, and a heap that stays where it is.
 *
 * And compiled WebAssembly is kept: threads share it, and collecting it now and then ends the process
 * (docs/decisions/wasm-code.md).
 */
const flags = {
  'min-semi-space': '--min-semi-space-size=4',
  'max-semi-space': '--max-semi-space-size=16',
  pretenuring: '--no-allocation-site-pretenuring',
  'wasm-code-gc': '--no-wasm-code-gc',
}

/** V8 reads those of the heap when it makes an isolate, that of WebAssembly whenever code could go. */
export function prepareV8(): void {
  const said = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  for (const [what, flag] of Object.entries(flags))
    if (!said.some((own) => own.includes(what))) setFlagsFromString(flag)
}
