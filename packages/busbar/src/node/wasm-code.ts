import v8 from 'node:v8'

const flag = 'wasm-code-gc'

/**
 * Stops V8 from collecting compiled WebAssembly, unless the user has set that flag. Threads share
 * this code, and collecting it occasionally ends the process in Node 24 and 26
 * (docs/decisions/run/wasm-code.md). V8 reads the flag before each collection, in all threads.
 * Returns why if the flag cannot be set.
 */
export function keepWasmCode(): string | undefined {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (options.some((option) => option.includes(flag))) return undefined
  try {
    v8.setFlagsFromString(`--no-${flag}`)
    return undefined
  } catch (error) {
    return `V8 does not accept --no-${flag}: ${(error as Error).message}`
  }
}
