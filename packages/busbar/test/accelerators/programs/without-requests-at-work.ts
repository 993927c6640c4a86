/** A worker in a Node whose resources of node:crypto and node:zlib do not show their work. */
import hooks, { type HookCallbacks } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const { createHook } = hooks
const hidden = /^(?:ZLIB|[A-Z\d]+REQUEST)$/

hooks.createHook = ({ init, ...others }: HookCallbacks) =>
  createHook({
    ...others,
    ...(init && {
      init: (id, type, trigger, resource) => init(id, type, trigger, hidden.test(type) ? {} : resource),
    }),
  })
syncBuiltinESMExports()

await import('../../../src/worker/main.ts')
