import v8 from 'node:v8'

const flag = 'wasm-code-gc'

/**
 * Has V8 keep compiled WebAssembly, unless somebody has said something of that: threads share it, and collecting it now and then
 * ends the process, in Node 24 and 26 (docs/decisions/wasm-code.md). V8 looks whenever code could go, in all threads of the
 * process. Undefined, or why it may be collected.
 */
export function keepWasmCode(): string | undefined {
  const said = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (said.some((own) => own.includes(flag))) return undefined
  try {
    v8.setFlagsFromString(`--no-${flag}`)
    return undefined
  } catch (error) {
    return `V8 does not take --no-${flag}: ${(error as Error).message}`
  }
}
