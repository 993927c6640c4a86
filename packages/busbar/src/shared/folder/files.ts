import fs from 'node:fs'
import { promisify } from 'node:util'
import { replace, resembling } from '../replace.ts'
import {
  type Call,
  type FileFunction,
  fileFunctions,
  type Functions,
  otherFileFunctions,
  type Way,
} from './file-functions.ts'
import { type CurrentFolder, isRelative, pathIn, relativeTo } from './folder.ts'
import { patchGlobs } from './globs.ts'
import { localError } from './results.ts'

/** Lets the public functions of `node:fs` and `node:fs/promises` find relative paths in `folder`. */
export function patchFiles(folder: CurrentFolder, patches: DisposableStack): void {
  const callbacks = fs as unknown as Functions
  const promises = fs.promises as unknown as Functions
  const patch = (target: Functions, name: string, way: Way, form: FileFunction): void => {
    if (typeof target[name] === 'function')
      replace(patches, target, name, (original) => follow(original, way, form, folder))
  }
  for (const [name, form] of Object.entries(fileFunctions)) {
    patch(callbacks, name, 'callback', form)
    patch(callbacks, `${name}Sync`, 'sync', form)
    patch(promises, name, 'promise', { ...form, absoluteErrors: false })
  }
  for (const [name, [way, form]] of Object.entries(otherFileFunctions)) patch(callbacks, name, way, form)
  patch(promises, 'watch', 'other', { paths: [0] })
  patchGlobs(callbacks, promises, folder, patches)
}

/** Also what hangs on the function: `fs.realpath.native`, and the form that `util.promisify` asks for. */
function follow(original: Call, way: Way, form: FileFunction, folder: CurrentFolder): Call {
  const replacement = inFolder(original, way, form, folder)
  const others = [
    ['native', way],
    [promisify.custom, 'promise'],
  ] as const
  for (const [key, itsWay] of others) {
    const own = Object.getOwnPropertyDescriptor(original, key)
    if (typeof own?.value !== 'function') continue
    const value = own.value === original ? replacement : followOwn(own.value as Call, itsWay, form, folder)
    Object.defineProperty(replacement, key, { ...own, value })
  }
  return replacement
}

/** These have their errors from the system. */
function followOwn(own: Call, way: Way, form: FileFunction, folder: CurrentFolder): Call {
  return resembling(follow(own, way, { ...form, absoluteErrors: false }, folder), own)
}

/** A path that is absolute, a URL, a `Buffer` or a descriptor costs two comparisons. */
function inFolder(call: Call, way: Way, form: FileFunction, folder: CurrentFolder): Call {
  const [first = 0, second] = form.paths
  return function (this: unknown, ...args) {
    const moves = isRelative(args[first]) || (second !== undefined && isRelative(args[second]))
    const current = moves ? folder() : undefined
    if (current === undefined) return Reflect.apply(call, this, args)
    const moved = { args: withFolder(args, form.paths, current), local: localIn(args, form, current) }
    return calls[way](call, this, moved)
  }
}

interface Moved {
  readonly args: unknown[]
  readonly local: Local
}

interface Local {
  readonly result: (result: unknown) => unknown
  readonly error: (error: unknown) => unknown
}

const calls: Readonly<Record<Way, (call: Call, self: unknown, moved: Moved) => unknown>> = {
  sync(call, self, { args, local }) {
    try {
      return local.result(Reflect.apply(call, self, args))
    } catch (error) {
      throw local.error(error)
    }
  },
  callback(call, self, { args, local }) {
    const done = args.at(-1)
    if (typeof done !== 'function') return Reflect.apply(call, self, args)
    const answer = (error: unknown, ...results: unknown[]): unknown =>
      error ? (done as Call)(local.error(error), ...results) : (done as Call)(error, ...results.map(local.result))
    return Reflect.apply(call, self, args.with(args.length - 1, answer))
  },
  async promise(call, self, { args, local }) {
    try {
      return local.result(await Reflect.apply(call, self, args))
    } catch (error) {
      throw local.error(error)
    }
  },
  other: (call, self, { args }) => Reflect.apply(call, self, args),
}

function withFolder(args: readonly unknown[], paths: readonly number[], folder: string): unknown[] {
  const moved = args.map((arg, at) => (paths.includes(at) && isRelative(arg) ? pathIn(folder, arg) : arg))
  return paths.length > 1 ? withFilter(moved, args, folder) : moved
}

/** `fs.cp` asks which files to copy. */
function withFilter(moved: unknown[], given: readonly unknown[], folder: string): unknown[] {
  const options = moved[2] as { filter?: unknown } | null | undefined
  if (typeof options !== 'object' || typeof options?.filter !== 'function') return moved
  const { filter } = options as { filter: Call }
  const own = (path: unknown, at: number): unknown => (isRelative(given[at]) ? relativeTo(folder, String(path)) : path)
  return moved.with(2, { ...options, filter: (...both: unknown[]) => filter(...both.map(own)) })
}

/** Where one of two paths was absolute, what Node says is left as it is: it may be of that one. */
function localIn(args: readonly unknown[], form: FileFunction, folder: string): Local {
  const isLocal = form.paths.every((at) => isRelative(args[at]))
  const { local, absoluteErrors = false } = form
  return {
    result: (result) => (isLocal && local !== undefined && result !== undefined ? local(result, folder) : result),
    error: (error) => (isLocal && !absoluteErrors ? localError(error, folder) : error),
  }
}
