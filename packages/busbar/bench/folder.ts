/**
 * The cost of resolving relative paths against the program's folder (`shared/working-directory`):
 * nanoseconds of CPU time that a replaced function adds to the original. `node
 * packages/busbar/bench/folder.ts`
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import { patchWorkingDirectory } from '../src/shared/working-directory/patch-all.ts'
import type { CurrentDirectory } from '../src/shared/working-directory/relative-paths.ts'

const scope = new AsyncLocalStorage<{ service: string }>()
const programs = new Map(['one', 'two'].map((name) => [name, { folder: `/srv/${name}` }]))

const folders: Readonly<Record<string, CurrentDirectory>> = {
  'one program in the thread': () => '/srv/one',
  'several programs': () => programs.get(scope.getStore()?.service ?? '')?.folder,
}

type Call = (path: string, done?: unknown) => unknown
const calls: Readonly<Record<string, () => unknown>> = {
  'sync, absolute': () => fs.statSync('/srv/x'),
  'sync, relative': () => fs.statSync('x'),
  'callback, absolute': () => fs.stat('/srv/x', () => {}),
  'callback, relative': () => fs.stat('x', () => {}),
}
const nothing: Call = (path, done) => (typeof done === 'function' ? void (done as Call)('') : path)

const { statSync, stat } = fs
Object.assign(fs, { statSync: nothing, stat: nothing })
const bare = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, nanoseconds(call)]))
for (const [title, folder] of Object.entries(folders)) {
  using patches = new DisposableStack()
  patchWorkingDirectory({ directory: folder }, patches)
  for (const [name, call] of Object.entries(calls)) {
    const took = scope.run({ service: 'one' }, () => nanoseconds(call))
    console.log(`${title.padEnd(28)}${name.padEnd(22)}${Math.round(took - (bare[name] ?? 0))} ns`)
  }
}
Object.assign(fs, { statSync, stat })

/** The minimum of several runs, since the machine is shared. */
function nanoseconds(call: () => unknown): number {
  const times = 1_000_000
  const one = (): number => {
    const before = process.cpuUsage()
    for (let i = 0; i < times; i++) call()
    return (process.cpuUsage(before).user * 1000) / times
  }
  return Math.min(...Array.from({ length: 7 }, one))
}
