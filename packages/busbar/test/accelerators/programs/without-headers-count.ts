/** A worker in a Node whose requests do not expose how many headers they have counted. */
const { getOwnPropertySymbols } = Object

Object.getOwnPropertySymbols = (owner: object) =>
  getOwnPropertySymbols(owner).filter(({ description }) => description !== 'kHeadersCount')

await import('../../../src/worker/main.ts')
