import { registerHooks } from 'node:module'
import type { HttpMesh } from '../../../mesh/mesh.ts'
import { Addresses } from '../clients/addresses.ts'
import { createMeshDispatcher } from './dispatcher.ts'
import { globalDispatchers, type Dispatcher } from './global-dispatchers.ts'
import { wrapRequest, type UndiciModule } from './copy.ts'

/**
 * Gives every copy of undici that is loaded from now on a `request` that calls the app's services without a
 * dispatcher, and keeps its global dispatcher its own: where the built-in's stands in the global slot only because
 * this mesh loaded it first, other calls of the copy go by an agent of the copy, as they do without a mesh.
 *
 * It rests on two modules that all copies from 6 to 8 have (`index.js`, `lib/global.js`). An older copy has its agent
 * elsewhere: like a bundled one it is left as it is, and calls services through the dispatcher.
 */
export function installUndiciRequest(mesh: HttpMesh): Disposable {
  const addresses = new Addresses(mesh.router)
  const grafts: Grafts = {
    request: (copy) => wrapRequest(mesh, addresses, copy),
    global: (module) => ownGlobalDispatcher(mesh, module),
  }
  Object.assign(globalThis, { [graftsSymbol]: grafts })
  const hooks = registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const graft = graftFor(url)
      const source = graft === undefined ? undefined : textOf(loaded.source)
      if (graft === undefined || !graft.marks.every((mark) => source?.includes(mark))) return loaded
      return { ...loaded, source: source + graft.code }
    },
  })
  return {
    [Symbol.dispose]() {
      hooks.deregister()
      Reflect.deleteProperty(globalThis, graftsSymbol)
    },
  }
}

/** What the appended lines call: they run in the copy's own modules and can reach nothing else of ours. */
interface Grafts {
  request(copy: UndiciModule): void
  global(module: GlobalModule): void
}

interface GlobalModule {
  readonly exports: { getGlobalDispatcher: () => Dispatcher }
  loadAgent(): new () => Dispatcher
  readonly version: string
}

const graftsName = 'busbar.undici'
const graftsSymbol = Symbol.for(graftsName)
const reach = `\n;globalThis[Symbol.for('${graftsName}')]?`

const graftsByFile = [
  {
    file: /\/undici[^/]*\/index\.js$/,
    marks: ['makeDispatcher(api.request)', "require('./lib/dispatcher/agent')"],
    code: `${reach}.request({ exports: module.exports, Body: require('./lib/api/readable').Readable, version: require('./package.json').version })\n`,
  },
  {
    file: /\/undici[^/]*\/lib\/global\.js$/,
    marks: ['undici.globalDispatcher', "require('./dispatcher/agent')"],
    code: `${reach}.global({ exports: module.exports, loadAgent: () => require('./dispatcher/agent'), version: require('../package.json').version })\n`,
  },
] as const

function graftFor(url: string): (typeof graftsByFile)[number] | undefined {
  if (!url.includes('/undici')) return undefined
  return graftsByFile.find(({ file }) => file.test(url))
}

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray | null | undefined): string | undefined {
  if (source == null || typeof source === 'string') return source ?? undefined
  return new TextDecoder().decode(source)
}

function ownGlobalDispatcher(mesh: HttpMesh, module: GlobalModule): void {
  const original = module.exports.getGlobalDispatcher
  let own: Dispatcher | undefined
  const create = (): Dispatcher => {
    const Agent = module.loadAgent()
    return createMeshDispatcher(mesh, new Agent(), Number.parseInt(module.version, 10))
  }
  module.exports.getGlobalDispatcher = () => {
    const current = original()
    return globalDispatchers.isOurs(current) ? (own ??= create()) : current
  }
}
