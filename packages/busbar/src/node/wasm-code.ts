import v8 from 'node:v8'

const flag = 'wasm-code-gc'

/** Milliseconds after which a start that goes on is protected too. */
const longestStart = 10_000

/**
 * Calls {@link keepWasmCode} when the start of the app is over, which the caller tells by disposing
 * of the result: V8 rejects all code that was compiled in advance under other flags, that of Node's
 * own modules included, and each thread would compile it again (docs/decisions/run/start.md).
 */
export function keepWasmCodeAfterStart(report: (fault: string | undefined) => void): Disposable {
  const keep = (): void => report(keepWasmCode())
  const timer = setTimeout(keep, longestStart).unref()
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      keep()
    },
  }
}

/**
 * Stops V8 from collecting compiled WebAssembly, unless the user has set that flag. Threads share
 * this code, and collecting it occasionally ends the process in Node 24 and 26
 * (docs/decisions/run/wasm-code.md). V8 reads the flag before each collection, in all threads.
 * Returns why if the flag cannot be set.
 */
function keepWasmCode(): string | undefined {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (options.some((option) => option.includes(flag))) return undefined
  try {
    v8.setFlagsFromString(`--no-${flag}`)
    return undefined
  } catch (error) {
    return `V8 does not accept --no-${flag}: ${(error as Error).message}`
  }
}
