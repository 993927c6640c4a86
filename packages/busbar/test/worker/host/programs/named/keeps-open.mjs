/** Its pool keeps a timer, and it never listens. */
setInterval(() => {}, 1000)

export const handler = (_req, res) => res.end(JSON.stringify({ hello: 'keeps-open' }))
