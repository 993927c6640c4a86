/**
 * What Node programs outside of the workers are started with (`NODE_OPTIONS=--require=…`): commands, and the processes and threads
 * that programs start. An older Node than the rest is written for runs as if this were not here.
 */
import type { deferBuiltinUndici } from './shared/builtin-undici.ts'

if (process.features.require_module) {
  const ending = __filename.endsWith('.cts') ? 'ts' : 'js'
  /* eslint-disable @typescript-eslint/no-require-imports */
  const undici = require(`./shared/builtin-undici.${ending}`) as { deferBuiltinUndici: typeof deferBuiltinUndici }
  const load = undici.deferBuiltinUndici()
  require(`./preload/install.${ending}`)
  load()
}
