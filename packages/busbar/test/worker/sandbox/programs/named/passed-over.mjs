/** Exports that cannot be served are skipped. */
export class server {}
export const app = { name: 'shop' }
export const handler = (_req, res) => res.end(JSON.stringify({ hello: 'passed-over' }))
