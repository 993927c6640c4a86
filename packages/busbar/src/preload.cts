/**
 * What Node programs outside of the workers are started with (`NODE_OPTIONS=--require=…`): commands, and the processes and threads
 * that programs start. An older Node than the rest is written for runs as if this were not here.
 */
if (process.features.require_module) {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  require(__filename.endsWith('.cts') ? './preload/install.ts' : './preload/install.js')
}
