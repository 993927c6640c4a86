/// <reference lib="esnext.disposable" preserve="true" />
import { Wait } from '../../shared/time/wait.ts'
import { replaceProperty } from '../../shared/process/replace-property.ts'

type Method = (...args: unknown[]) => unknown

/** How many ask for it, in this thread. */
let users = 0
let patches: DisposableStack | undefined

/**
 * Shows a {@link Wait} for work in Node's other threads whose only sign is a promise: WebAssembly
 * has no resource that an async hook could see, those of WebCrypto look like those of functions
 * that have returned, and those of a Blob are there for as long as itself. The methods are replaced
 * until all results are disposed.
 */
export function showPromisedWork(): Disposable {
  if (users++ === 0) patches = replaceMethods()
  return {
    [Symbol.dispose]() {
      if (--users === 0) patches!.dispose()
    },
  }
}

function replaceMethods(): DisposableStack {
  const replaced = new DisposableStack()
  const { WebAssembly } = globalThis as unknown as { WebAssembly: object }
  for (const target of [WebAssembly, SubtleCrypto.prototype, Blob.prototype]) {
    const methods = target as Record<string, Method>
    for (const [name, { value }] of Object.entries<PropertyDescriptor>(Object.getOwnPropertyDescriptors(methods)))
      if (typeof value === 'function' && !isConstructor.test(name)) replaceProperty(replaced, methods, name, waiting)
  }
  return replaced
}

const isConstructor = /^(?:[A-Z]|constructor$)/

/** For a method that returns a promise. Others are not changed by it. */
function waiting(original: Method): Method {
  return function (this: unknown, ...args) {
    const result = Reflect.apply(original, this, args)
    if (!(result instanceof Promise)) return result
    const wait = new Wait()
    // The program gets this promise, so that Node reports a rejection which nobody handles.
    return result.finally(() => wait[Symbol.dispose]())
  }
}
