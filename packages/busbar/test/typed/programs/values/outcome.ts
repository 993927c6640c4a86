interface Failure {
  readonly name: string
  readonly code: string
  readonly status: number
  readonly data: { readonly issues?: unknown }
}

/**
 * The outcome of a call as plain values: its result or its error. The data of INTERNAL is left out:
 * it is a random id.
 */
export async function outcomeOf(client: object, method: string, input: unknown): Promise<object> {
  try {
    const answer = (client as Record<string, (input: unknown) => unknown>)[method]!(input)
    if (!method.endsWith('_item')) return { value: await answer }
    const items: unknown[] = []
    for await (const item of answer as AsyncIterable<unknown>) items.push(item)
    return { items }
  } catch (thrown) {
    const { name, code, status, data } = thrown as Failure
    if (name !== 'BusbarError') throw thrown
    return { code, status, ...(code !== 'INTERNAL' && { data }) }
  }
}
