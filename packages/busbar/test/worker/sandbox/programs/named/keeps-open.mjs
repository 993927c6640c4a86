/** Has a timer, as a connection pool does, and never listens. */
setInterval(() => {}, 1000)

export const handler = (_req, res) => res.end(JSON.stringify({ hello: 'keeps-open' }))
