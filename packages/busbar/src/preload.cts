/**
 * Preloaded by `NODE_OPTIONS=--require=…` into Node programs outside of the workers: commands, and
 * the processes and threads that programs start. Does nothing on a Node that cannot `require` ES
 * modules.
 */
import type { deferBuiltinUndici } from './shared/process/builtin-undici.ts'

if (process.features.require_module) {
  const ending = __filename.endsWith('.cts') ? 'ts' : 'js'
  /* eslint-disable @typescript-eslint/no-require-imports */
  const undici = require(`./shared/process/builtin-undici.${ending}`) as {
    deferBuiltinUndici: typeof deferBuiltinUndici
  }
  const load = undici.deferBuiltinUndici()
  require(`./preload/main.${ending}`)
  load()
}
