export const handler = (_req, res) => res.end(JSON.stringify({ hello: 'handler' }))
