import { registerHooks, syncBuiltinESMExports } from 'node:module'

/** Exports of `node:http` that load the undici which Node is built with, when they are read. */
const loading = ['WebSocket', 'CloseEvent', 'MessageEvent'] as const

/**
 * Node reads all exports of `node:http` when an ES module imports it, and so loads its own undici, whose dispatcher then stands in
 * the global slots: the undici of a program would find it there, and use it instead of its own. Until the result is called,
 * imports load nothing of that. A program that imports `node:http` itself gets all of it, as it does without Busbar.
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
