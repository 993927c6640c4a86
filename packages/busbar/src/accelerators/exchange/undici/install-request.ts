import { registerHooks } from 'node:module'
import type { MeshContext } from '../../../mesh/mesh-context.ts'
import { ServiceAddresses } from '../clients/addresses.ts'
import { createMeshDispatcher } from './mesh-dispatcher.ts'
import { globalDispatchers, type Dispatcher } from './globals.ts'
import { type ConnectionModule, sendRequestsAsValues } from './value-writer.ts'
import { wrapRequest, type UndiciModule } from './wrap-request.ts'

/**
 * Changes every copy of undici that is loaded from now on. Its `request` calls the app's services
 * without a dispatcher. Its other calls use an agent of the copy, as without a mesh, even though
 * the mesh has loaded the built-in first, whose dispatcher is the global one. Agents that the
 * program creates itself send values over connections to other apps.
 *
 * Relies on three modules that all copies from 6 to 8 have (`index.js`, `lib/global.js`,
 * `lib/dispatcher/client-h1.js`). Older and bundled copies are not changed, and call services
 * through the dispatcher.
 */
export function installUndiciRequest(mesh: MeshContext): Disposable {
  const addresses = new ServiceAddresses(mesh.router)
  const patches: Patches = {
    request: (copy) => wrapRequest(mesh, addresses, copy),
    global: (module) => useOwnAgent(mesh, module),
    connection: sendRequestsAsValues,
  }
  Object.assign(globalThis, { [patchesSymbol]: patches })
  const hooks = registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const patch = patchFor(url)
      const source = patch === undefined ? undefined : textOf(loaded.source)
      if (patch === undefined || !patch.expected.every((text) => source?.includes(text))) return loaded
      return { ...loaded, source: source + patch.code }
    },
  })
  return {
    [Symbol.dispose]() {
      hooks.deregister()
      Reflect.deleteProperty(globalThis, patchesSymbol)
    },
  }
}

/** Called by the code that is appended to the copy's modules, through a global symbol. */
interface Patches {
  request(copy: UndiciModule): void
  global(module: GlobalModule): void
  connection(module: ConnectionModule): void
}

interface GlobalModule {
  readonly exports: { getGlobalDispatcher: () => Dispatcher }
  loadAgent(): new () => Dispatcher
  readonly version: string
}

const patchesName = 'busbar.undici'
const patchesSymbol = Symbol.for(patchesName)
const callPatch = `\n;globalThis[Symbol.for('${patchesName}')]?`

const patchesByFile = [
  {
    file: /\/undici[^/]*\/index\.js$/,
    expected: ['makeDispatcher(api.request)', "require('./lib/dispatcher/agent')"],
    code: `${callPatch}.request({ exports: module.exports, Body: require('./lib/api/readable').Readable, version: require('./package.json').version })\n`,
  },
  {
    file: /\/undici[^/]*\/lib\/global\.js$/,
    expected: ['undici.globalDispatcher', "require('./dispatcher/agent')"],
    code: `${callPatch}.global({ exports: module.exports, loadAgent: () => require('./dispatcher/agent'), version: require('../package.json').version })\n`,
  },
  {
    file: /\/undici[^/]*\/lib\/dispatcher\/client-h1\.js$/,
    expected: [
      'module.exports = connectH1',
      'return currentParser.onHeadersComplete(statusCode, ',
      'request.onResponseStarted()',
      'this.resume = this.resume.bind(this)',
      'return writeH1(client, ',
      "socket.write(`${header}content-length: ${contentLength}\\r\\n\\r\\n`, 'latin1')",
      '  createError (ret, data) {',
    ],
    code: `${callPatch}.connection({ module, Parser, kParser, kRunning })\n`,
  },
] as const

function patchFor(url: string): (typeof patchesByFile)[number] | undefined {
  if (!url.includes('/undici')) return undefined
  return patchesByFile.find(({ file }) => file.test(url))
}

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray | null | undefined): string | undefined {
  if (source == null || typeof source === 'string') return source ?? undefined
  return new TextDecoder().decode(source)
}

/** If the global dispatcher is the mesh's, the copy uses an agent of its own behind the mesh. */
function useOwnAgent(mesh: MeshContext, module: GlobalModule): void {
  const original = module.exports.getGlobalDispatcher
  let own: Dispatcher | undefined
  const create = (): Dispatcher => {
    const Agent = module.loadAgent()
    return createMeshDispatcher(mesh, new Agent(), Number.parseInt(module.version, 10))
  }
  module.exports.getGlobalDispatcher = () => {
    const current = original()
    return globalDispatchers.isMeshDispatcher(current) ? (own ??= create()) : current
  }
}
