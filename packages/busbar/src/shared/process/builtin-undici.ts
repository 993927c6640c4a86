import { registerHooks, syncBuiltinESMExports } from 'node:module'

/** Exports of `node:http` whose getters load Node's built-in undici. */
const loading = ['WebSocket', 'CloseEvent', 'MessageEvent'] as const

/**
 * Prevents imports from loading Node's built-in undici until the returned function is called. When
 * an ES module imports `node:http`, Node reads all of its exports and so loads its undici, whose
 * dispatcher then occupies the global slots: a program's own undici would use it instead of its
 * own. A program that imports `node:http` itself gets all exports, as without Busbar.
 */
export function deferBuiltinUndici(): () => void {
  const http = process.getBuiltinModule('node:http')
  const getters = loading.flatMap((name) => {
    const property = Object.getOwnPropertyDescriptor(http, name)
    return property?.get !== undefined && property.configurable ? [{ name, property }] : []
  })
  for (const { name, property } of getters) Object.defineProperty(http, name, { ...property, get: () => undefined })
  return () => {
    for (const { name, property } of getters) Object.defineProperty(http, name, property)
    syncWithImport()
  }
}

function syncWithImport(): void {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if ((specifier === 'http' || specifier === 'node:http') && context.conditions.includes('import')) {
        hooks.deregister()
        syncBuiltinESMExports()
      }
      return next(specifier, context)
    },
  })
}
