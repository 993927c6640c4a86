/**
 * Hides a property of `owner`, and of objects that inherit from it, from all but Node's own code.
 * Other code gets the value of `instead`.
 */
export function hide(owner: object, name: string, instead: () => unknown = () => undefined): void {
  const values = new WeakMap<object, unknown>([[owner, Reflect.get(owner, name)]])
  Object.defineProperty(owner, name, {
    get(this: object) {
      return isOfNode(new Error()) ? values.get(this) : instead()
    },
    set(this: object, value: unknown) {
      if (isOfNode(new Error())) values.set(this, value)
    },
    configurable: true,
  })
}

/** True if Node's own code called the accessor that created this error. */
function isOfNode({ stack }: Error): boolean {
  return stack!.split('\n')[2]!.includes('(node:')
}
