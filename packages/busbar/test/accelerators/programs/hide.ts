/** Shows a property of `owner`, or of the objects that inherit from it, to Node's own code alone; all others find what `instead` makes. */
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

/** Whether Node's own code asked the accessor that made this. */
function isOfNode({ stack }: Error): boolean {
  return stack!.split('\n')[2]!.includes('(node:')
}
