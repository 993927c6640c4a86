/** A worker in a Node whose servers do not expose the classes of their requests and responses. */
const { getOwnPropertySymbols } = Object
const hidden = new Set<string | undefined>(['IncomingMessage', 'ServerResponse'])

Object.getOwnPropertySymbols = (owner: object) =>
  getOwnPropertySymbols(owner).filter(({ description }) => !hidden.has(description))

await import('../../../src/worker/main.ts')
